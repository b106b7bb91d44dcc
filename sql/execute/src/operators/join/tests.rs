//! Joins against nested loops over the rows.

use arrow_schema::DataType;
use yunti_engine::columns::vector::Value;
use yunti_engine::env::random::Random;
use yunti_sql_plan::{Batch, Comparison, Expression, Join, JoinKind, Node, Operation};

use crate::pipeline::output::Ordered;
use crate::store::random::{self, Row, below, column, context, text};

pub const KINDS: [JoinKind; 9] = [
    JoinKind::Inner,
    JoinKind::Left,
    JoinKind::Right,
    JoinKind::Full,
    JoinKind::LeftSemi,
    JoinKind::LeftAnti,
    JoinKind::RightSemi,
    JoinKind::RightAnti,
    JoinKind::LeftMark,
];

/// One side of a join.
#[derive(Clone)]
pub struct Side {
    pub types: Vec<DataType>,
    pub rows: Vec<Row>,
}

fn same(a: &Value, b: &Value, nulls_equal: bool) -> bool {
    match (a, b) {
        (Value::Null, Value::Null) => nulls_equal,
        (Value::Float(a), Value::Float(b)) => a == b || (a.is_nan() && b.is_nan()),
        (a, b) => a == b,
    }
}

/// Returns the rows of a join in their order.
fn expect(left: &Side, right: &Side, join: &Join, keys: usize, meets: &dyn Fn(&Row, &Row) -> bool) -> Vec<String> {
    let (build, probe) = if join.build_left { (left, right) } else { (right, left) };
    let pair = |b: &Row, p: &Row| text(&if join.build_left { [&b[..], p].concat() } else { [&p[..], b].concat() });
    let nulls = |side: &Side| vec![Value::Null; side.types.len()];
    let (keeps_left, keeps_right) = match join.kind {
        JoinKind::Left => (true, false),
        JoinKind::Right => (false, true),
        JoinKind::Full => (true, true),
        _ => (false, false),
    };
    let (keeps_build, keeps_probe) =
        if join.build_left { (keeps_left, keeps_right) } else { (keeps_right, keeps_left) };
    let (mut pairs, mut rest) = (Vec::new(), Vec::new());
    let mut build_has = vec![false; build.rows.len()];
    let mut probe_has = vec![false; probe.rows.len()];
    for (p, row) in probe.rows.iter().enumerate() {
        for (b, other) in build.rows.iter().enumerate() {
            let (l, r) = if join.build_left { (other, row) } else { (row, other) };
            if (0..keys).all(|k| same(&l[k], &r[k], join.nulls_equal)) && meets(l, r) {
                (build_has[b], probe_has[p]) = (true, true);
                pairs.push(pair(other, row));
            }
        }
        if !probe_has[p] && keeps_probe {
            pairs.push(pair(&nulls(build), row));
        }
    }
    if keeps_build {
        rest.extend((0..build.rows.len()).filter(|&b| !build_has[b]).map(|b| pair(&build.rows[b], &nulls(probe))));
    }
    let (left_has, right_has) = if join.build_left { (build_has, probe_has) } else { (probe_has, build_has) };
    let chosen = |side: &Side, has: &[bool], wanted: bool| -> Vec<String> {
        side.rows.iter().zip(has).filter(|(_, has)| **has == wanted).map(|(row, _)| text(row)).collect()
    };
    match join.kind {
        JoinKind::LeftSemi => chosen(left, &left_has, true),
        JoinKind::LeftAnti => chosen(left, &left_has, false),
        JoinKind::RightSemi => chosen(right, &right_has, true),
        JoinKind::RightAnti => chosen(right, &right_has, false),
        JoinKind::LeftMark => {
            let mark = |(row, has): (&Row, &bool)| text(&[&row[..], &[Value::Bool(*has)]].concat());
            left.rows.iter().zip(&left_has).map(mark).collect()
        }
        _ => [pairs, rest].concat(),
    }
}

pub fn join_of(left: &Side, right: &Side, kind: JoinKind, keys: usize, build_left: bool, nulls_equal: bool) -> Join {
    let values = |side: &Side| Box::new(Node::Values { types: side.types.clone(), rows: Vec::new() });
    let key = |n: usize| (column(n, &left.types[n]), column(n, &right.types[n]));
    Join {
        left: values(left),
        right: values(right),
        kind,
        keys: (0..keys).map(key).collect(),
        nulls_equal,
        condition: None,
        build_left,
    }
}

/// Runs a join; `bytes`: memory.
pub fn run(random: &mut Random, left: &Side, right: &Side, join: &Join, threads: usize, bytes: u64) -> Vec<String> {
    let context = context(threads, bytes);
    let most = [1, 3, 20, 5000][below(random, 4)];
    let (left, right) = (
        random::pipeline(random, &left.types, &left.rows, most),
        random::pipeline(random, &right.types, &right.rows, most),
    );
    let (build, probe) = if join.build_left { (left, right) } else { (right, left) };
    let pipeline = super::run(&build, (join, None), |_| Ok(probe), &context).unwrap();
    let rows = random::run(&pipeline, &context).unwrap();
    drop(pipeline);
    assert_eq!(context.budget.used_bytes(), 0, "memory is given back");
    rows
}

fn side(random: &mut Random, types: &[DataType], most: usize, distinct: usize) -> Side {
    let n = below(random, most);
    Side { types: types.to_vec(), rows: random::rows(random, types, n, distinct, 10) }
}

#[test]
fn equals_nested_loops_for_each_kind_and_type() {
    let mut random = Random::new(27);
    for round in 0..700 {
        let keys = below(&mut random, 4);
        let mut types: Vec<DataType> = (0..keys).map(|_| random::all_types()[below(&mut random, 7)].clone()).collect();
        let distinct = [2, 5, 40, 400][below(&mut random, 4)];
        let most = if keys == 0 { 30 } else { [1, 10, 60, 150][below(&mut random, 4)] };
        types.push(DataType::Int64);
        let left = side(&mut random, &types, most, distinct);
        types.push(DataType::Utf8);
        let right = side(&mut random, &types, most, distinct);
        let (kind, build_left) = (KINDS[round % 9], below(&mut random, 2) == 0);
        let nulls_equal = below(&mut random, 3) == 0;
        let join = join_of(&left, &right, kind, keys, build_left, nulls_equal);
        let want = expect(&left, &right, &join, keys, &|_, _| true);
        let threads = 1 + below(&mut random, 4);
        let have = run(&mut random, &left, &right, &join, threads, 1 << 30);
        assert_eq!(have, want, "round {round}: {kind:?}, {keys} keys of {types:?}, build left: {build_left}");
    }
}

/// Keys of each form of table, large enough for regions, filters and threads.
#[test]
fn large_tables_find_each_row() {
    let mut random = Random::new(28);
    let number = |n: usize| n as i64;
    let spread = |n: usize| (n as i64).wrapping_mul(0x9e37_79b9_7f4a_7c15u64 as i64);
    let forms: [(&str, &dyn Fn(usize) -> Row); 6] = [
        ("in order", &|n| vec![Value::Int(number(n))]),
        ("dense", &|n| vec![Value::Int((number(n) * 7919) % 200_003 * 3)]),
        ("spread", &|n| vec![Value::Int(spread(n))]),
        ("pair", &|n| vec![Value::Int(spread(n)), Value::Int(number(n) % 7)]),
        ("text", &|n| vec![Value::Bytes(format!("customer {}", n * 31).into_bytes())]),
        ("three", &|n| vec![Value::Int(number(n) % 11), Value::Int(number(n) % 13), Value::Int(number(n))]),
    ];
    for (name, form) in forms {
        let n = 70_000;
        let types = |row: &Row| -> Vec<DataType> {
            let of = |value: &Value| if matches!(value, Value::Int(_)) { DataType::Int64 } else { DataType::Utf8 };
            row.iter().map(of).chain([DataType::Int64]).collect()
        };
        let row = |n: usize| [form(n), vec![Value::Int(number(n))]].concat();
        // Each third key has a second row; each second look-up finds none.
        let build = (0..n).chain((0..n).step_by(3)).map(row).collect();
        let build = Side { types: types(&form(0)), rows: build };
        let probe = Side { types: build.types.clone(), rows: (0..n).map(|i| row(i * 2)).collect() };
        let join = join_of(&probe, &build, JoinKind::Inner, build.types.len() - 1, false, false);
        let mut want = Vec::new();
        for i in (0..n).step_by(2) {
            want.push(text(&[row(i), row(i)].concat()));
            if i % 3 == 0 {
                want.push(text(&[row(i), row(i)].concat()));
            }
        }
        for threads in [1, 3] {
            let have = run(&mut random, &probe, &build, &join, threads, 1 << 30);
            assert!(have == want, "{name}: {} rows, not {}", have.len(), want.len());
        }
    }
}

/// Pairs of one key are many times the rows.
#[test]
fn pairs_of_one_key_come_in_pieces() {
    let mut random = Random::new(29);
    let types = vec![DataType::Int64, DataType::Utf8];
    let of = |n: usize| Side {
        types: types.clone(),
        rows: (0..n).map(|i| vec![Value::Int(7), Value::Bytes(format!("row {i}").into_bytes())]).collect(),
    };
    let (left, right) = (of(300), of(200));
    for (keys, build_left) in [(1, true), (1, false), (0, true)] {
        let join = join_of(&left, &right, JoinKind::Full, keys, build_left, false);
        let want = expect(&left, &right, &join, keys, &|_, _| true);
        assert_eq!(want.len(), 60_000);
        assert!(run(&mut random, &left, &right, &join, 2, 1 << 30) == want);
    }
}

fn sorted(mut rows: Vec<String>) -> Vec<String> {
    rows.sort_unstable();
    rows
}

/// Budgets of which a part of the table, all of it, or the table of a partition does not fit.
#[test]
fn small_budgets_give_the_same_rows() {
    let mut random = Random::new(30);
    for round in 0..135 {
        let keys = [1, 1, 2, 0][below(&mut random, 4)];
        let mut types: Vec<DataType> = (0..keys).map(|_| random::all_types()[below(&mut random, 7)].clone()).collect();
        let distinct = [1, 3, 40, 4000][below(&mut random, 4)];
        let most = if keys == 0 || distinct < 40 { 100 } else { 900 };
        types.extend([DataType::Int64, DataType::Utf8]);
        let left = side(&mut random, &types, most, distinct);
        let right = side(&mut random, &types, most, distinct);
        let (kind, build_left) = (KINDS[round % 9], below(&mut random, 2) == 0);
        let join = join_of(&left, &right, kind, keys, build_left, below(&mut random, 3) == 0);
        let want = sorted(expect(&left, &right, &join, keys, &|_, _| true));
        let threads = 1 + below(&mut random, 4);
        let bytes = [0, 3 << 10, 20 << 10, 100 << 10][below(&mut random, 4)];
        let have = sorted(run(&mut random, &left, &right, &join, threads, bytes));
        let what =
            format!("round {round}: {kind:?}, {keys} keys of {types:?}, build left: {build_left}, {bytes} bytes");
        assert_eq!(have.len(), want.len(), "{what}");
        assert!(have == want, "{what}");
    }
}

#[test]
fn a_cancelled_join_ends_with_its_error() {
    let mut random = Random::new(34);
    let types = vec![DataType::Int64];
    let of = |n: i64| Side { types: types.clone(), rows: (0..n).map(|n| vec![Value::Int(n % 5)]).collect() };
    let (left, right) = (of(3000), of(3000));
    let join = join_of(&left, &right, JoinKind::Inner, 1, true, false);
    let context = context(2, 10 << 10);
    let build = random::pipeline(&mut random, &types, &left.rows, 100);
    let probe = random::pipeline(&mut random, &types, &right.rows, 100);
    let pipeline = super::run(&build, (&join, None), |_| Ok(probe), &context).unwrap();
    assert_eq!(pipeline.branches.len(), 2, "partitions have left memory");
    context.cancel.set();
    assert_eq!(random::run(&pipeline, &context).unwrap_err().code(), yunti_base::Code::Cancelled);
    drop(pipeline);
    assert_eq!(context.budget.used_bytes(), 0);
}

/// A condition on pairs, for all kinds, also where the table does not fit in memory.
#[test]
fn conditions_on_pairs_decide_matches() {
    let mut random = Random::new(36);
    for round in 0..270 {
        let keys = below(&mut random, 2);
        let mut types = vec![DataType::Utf8; keys];
        types.push(DataType::Int64);
        let (distinct, most) = ([1, 4, 30][below(&mut random, 3)], [8, 60, 250][below(&mut random, 3)]);
        let left = side(&mut random, &types, most, distinct);
        types.push(DataType::Float64);
        let right = side(&mut random, &types, most, distinct);
        let (kind, build_left) = (KINDS[round % 9], below(&mut random, 2) == 0);
        let mut join = join_of(&left, &right, kind, keys, build_left, false);
        let sides = [column(keys, &DataType::Int64), column(left.types.len() + keys, &DataType::Int64)];
        join.condition = Some(Expression {
            data_type: DataType::Boolean,
            operation: Operation::Compare(Comparison::Less, Box::new(sides)),
        });
        let meets = |l: &Row, r: &Row| matches!((&l[keys], &r[keys]), (Value::Int(a), Value::Int(b)) if a < b);
        let want = expect(&left, &right, &join, keys, &meets);
        let threads = 1 + below(&mut random, 3);
        let what = format!("round {round}: {kind:?}, {keys} keys, build left: {build_left}");
        assert_eq!(run(&mut random, &left, &right, &join, threads, 1 << 30), want, "{what}");
        let bytes = [0, 4 << 10][below(&mut random, 2)];
        assert!(
            sorted(run(&mut random, &left, &right, &join, threads, bytes)) == sorted(want),
            "{what}, {bytes} bytes"
        );
    }
}

#[test]
fn computed_keys_join_like_columns() {
    let mut random = Random::new(37);
    let types = vec![DataType::Int64, DataType::Int64];
    for kind in KINDS {
        let (left, right) = (side(&mut random, &types, 90, 40), side(&mut random, &types, 90, 40));
        let join = join_of(&left, &right, kind, 1, true, false);
        let mut computed = join.clone();
        let negate =
            |of: Expression| Expression { data_type: DataType::Int64, operation: Operation::Negate(Box::new(of)) };
        let (a, b) = computed.keys.remove(0);
        computed.keys.push((negate(a), negate(b)));
        for bytes in [1 << 30, 4 << 10] {
            let want = sorted(run(&mut random, &left, &right, &join, 2, 1 << 30));
            assert_eq!(sorted(run(&mut random, &left, &right, &computed, 2, bytes)), want, "{kind:?}");
        }
    }
}

/// A spill directory that is gone is an error of one line, and all memory comes back.
#[test]
fn a_spill_directory_that_is_gone_ends_the_join() {
    let mut random = Random::new(38);
    let types = vec![DataType::Int64];
    let of = |n: i64| Side { types: types.clone(), rows: (0..n).map(|n| vec![Value::Int(n)]).collect() };
    let (left, right) = (of(3000), of(3000));
    let join = join_of(&left, &right, JoinKind::Inner, 1, true, false);
    let mut context = context(2, 10 << 10);
    context.env.temp_dir = "/there/is/no/such/directory".into();
    let build = random::pipeline(&mut random, &types, &left.rows, 100);
    let probe = random::pipeline(&mut random, &types, &right.rows, 100);
    let failed = super::run(&build, (&join, None), |_| Ok(probe), &context).err().unwrap();
    assert_eq!(failed.code(), yunti_base::Code::Output);
    assert!(failed.to_string().contains("/there/is/no/such/directory"), "{failed}");
    assert_eq!(context.budget.used_bytes(), 0);
}

/// Returns the rows of a join with some of its columns, or all.
fn rows_of(random: &mut Random, (left, right): (&Side, &Side), join: &Join, wanted: Option<&[usize]>) -> Vec<Row> {
    let context = context(2, 1 << 30);
    let most = [1, 3, 20, 5000][below(random, 4)];
    let (left, right) = (
        random::pipeline(random, &left.types, &left.rows, most),
        random::pipeline(random, &right.types, &right.rows, most),
    );
    let (build, probe) = if join.build_left { (left, right) } else { (right, left) };
    let pipeline = super::run(&build, (join, wanted), |_| Ok(probe), &context).unwrap();
    let mut all = Vec::new();
    let mut out = |batch: Batch| {
        all.extend((0..batch.rows).map(|row| batch.columns.iter().map(|of| of.value(row)).collect::<Row>()));
        Ok(())
    };
    pipeline.run(&Ordered::new(&mut out, (0, None), 2), &context).unwrap();
    all
}

#[test]
fn a_join_gives_the_wanted_columns_alone() {
    let mut random = Random::new(31);
    for round in 0..300 {
        let keys = below(&mut random, 3);
        let mut types: Vec<DataType> = (0..keys).map(|_| random::all_types()[below(&mut random, 7)].clone()).collect();
        types.extend([DataType::Int64, DataType::Utf8]);
        let most = if keys == 0 { 20 } else { 80 };
        let (left, right) = (side(&mut random, &types, most, 6), side(&mut random, &types, most, 6));
        let kind = KINDS[round % 8];
        let build_left = below(&mut random, 2) == 0;
        let join = join_of(&left, &right, kind, keys, build_left, below(&mut random, 4) == 0);
        let wanted: Vec<usize> = (0..join.types().len()).filter(|_| below(&mut random, 2) == 0).collect();
        let all = rows_of(&mut random, (&left, &right), &join, None);
        let have = rows_of(&mut random, (&left, &right), &join, Some(&wanted));
        let want: Vec<Row> = all.iter().map(|row| wanted.iter().map(|&n| row[n].clone()).collect()).collect();
        let texts = |rows: &[Row]| rows.iter().map(text).collect::<Vec<_>>();
        assert_eq!(texts(&have), texts(&want), "round {round}: {kind:?}, {wanted:?}, build left: {build_left}");
    }
}
