//! Queries over random shared tables against the same queries over the rows that they were built from.

use std::fs::{self, OpenOptions};
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_schema::DataType;
use yunti_base::Code;
use yunti_engine::columns::vector::Value;
use yunti_engine::env::random::Random;
use yunti_sql_plan::{Comparison, Expression, Join, Node, Operation, Scan, Table, lookup};
use yunti_table::builder::{Duplicates, Gather, Settings, write};
use yunti_table::format::{Column, Kind, Schema};

use super::run;
use crate::operators::join::tests::KINDS;
use crate::operators::scan::parts::{Origin, Part, Parts};
use crate::operators::shared::table;
use crate::store::random::{Row, below, column, context, text};

/// Kinds of columns in these tables; the first ones can be keys.
const TYPES: [Kind; 11] = [
    Kind::I64,
    Kind::I16,
    Kind::U64,
    Kind::Utf8,
    Kind::Bytes,
    Kind::Bool,
    Kind::U8,
    Kind::F64,
    Kind::F32,
    Kind::Dict,
    Kind::Utf8,
];

struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn folder(name: &str) -> Folder {
    let path = std::env::temp_dir().join(format!("yunti-sql-shared-{name}-{}", std::process::id()));
    fs::create_dir_all(&path).unwrap();
    Folder(path)
}

/// A table and its rows.
struct Case {
    table: Arc<Table>,
    rows: Vec<Row>,
    types: Vec<DataType>,
    keys: usize,
}

fn value(random: &mut Random, kind: Kind, distinct: usize) -> Value {
    let n = below(random, distinct) as i64;
    match kind {
        Kind::Bool => Value::Bool(n % 2 == 0),
        Kind::U64 if n % 5 == 4 => Value::Decimal(i128::from(u64::MAX) - i128::from(n)),
        Kind::U64 => Value::Decimal(n.into()),
        Kind::U8 => Value::Int(n % 256),
        Kind::F32 | Kind::F64 => Value::Float(n as f64 / 4.0),
        Kind::Utf8 | Kind::Bytes | Kind::Dict => Value::Bytes(format!("text {n}").into_bytes()),
        Kind::I64 if n % 7 == 3 => Value::Int(n * 1_000_003_000_017),
        _ => Value::Int(n - 3),
    }
}

fn bytes_of(kind: Kind, value: &Value) -> Option<Vec<u8>> {
    let width = kind.width().unwrap_or(0);
    Some(match value {
        Value::Null => return None,
        Value::Bool(value) => vec![u8::from(*value)],
        Value::Int(value) => value.to_le_bytes()[..width].to_vec(),
        Value::Decimal(value) => value.to_le_bytes()[..width].to_vec(),
        Value::Float(value) if kind == Kind::F32 => (*value as f32).to_le_bytes().to_vec(),
        Value::Float(value) => value.to_le_bytes().to_vec(),
        Value::Bytes(bytes) => bytes.clone(),
    })
}

/// Returns a random table of some files, whose names begin with a path.
fn case(random: &mut Random, path: &Path, files: usize) -> Case {
    let keys = 1 + below(random, 3);
    let key = |random: &mut Random| TYPES[below(random, 7)];
    let mut kinds: Vec<Kind> = (0..keys).map(|_| key(random)).collect();
    kinds.extend((0..below(random, 4)).map(|_| TYPES[below(random, TYPES.len())]));
    let is_nullable: Vec<bool> = (0..kinds.len()).map(|at| at >= keys && below(random, 2) == 0).collect();
    let columns = kinds.iter().zip(&is_nullable).enumerate();
    let columns = columns.map(|(at, (kind, nullable))| Column::new(&format!("c{at}"), *kind, *nullable)).collect();
    let count = [0, 1, 20, 500, 20_000][below(random, 5)];
    let distinct = [5, 100, 30_000][below(random, 3)];
    let mut rows: Vec<Row> = Vec::new();
    for _ in 0..count {
        let one = |(kind, nullable): (&Kind, &bool)| match *nullable && below(random, 3) == 0 {
            true => Value::Null,
            false => value(random, *kind, distinct),
        };
        rows.push(kinds.iter().zip(&is_nullable).map(one).collect());
    }
    let has_lists = below(random, 2) == 0;
    if !has_lists {
        let mut seen = std::collections::HashSet::new();
        rows.retain(|row| seen.insert(format!("{:?}", &row[..keys])));
    }
    let schema = Schema::new(columns, (0..keys).collect()).unwrap();
    let duplicates = if has_lists { Duplicates::List } else { Duplicates::Refuse };
    let is_sorted = below(random, 2) == 0;
    let shards = below(random, 2) == 0;
    let mut parts = Vec::new();
    for number in 0..files {
        let path = path.with_extension(format!("{number}.ytab"));
        let shard = if shards && files > 1 { (number as u32 + 1, files as u32) } else { (0, 0) };
        let settings = Settings { duplicates, is_sorted, shard, ..Settings::default() };
        let gather = Gather::new(schema.clone(), &path, &settings);
        let mut feeder = gather.feeder();
        // A shard takes its own rows; else rows of one key may be in several files.
        let own = |at: usize| shard.1 > 0 || at % files == number;
        for (at, row) in rows.iter().enumerate().filter(|(at, _)| own(*at)) {
            let values: Vec<Option<Vec<u8>>> =
                kinds.iter().zip(row).map(|(kind, value)| bytes_of(*kind, value)).collect();
            feeder.add(&values.iter().map(Option::as_deref).collect::<Vec<_>>(), at as u64 + 1).unwrap();
        }
        feeder.finish().unwrap();
        write(&path, gather, &settings).unwrap();
        let table = table("t", &path).unwrap();
        let columns = (0..table.fields.len()).map(Origin::Same).collect();
        parts.push(Part { table: Arc::new(table), files: 1, columns });
    }
    let table = Arc::new(Parts::new(parts[0].table.fields.clone(), parts).table("t"));
    assert_eq!(table.statistics.rows, Some(rows.len() as u64));
    let types = table.fields.iter().map(|field| field.data_type.clone()).collect();
    Case { table, rows, types, keys }
}

impl Case {
    fn scan(&self, conditions: Vec<Expression>) -> Scan {
        Scan { table: self.table.clone(), columns: (0..self.types.len()).collect(), conditions, limit: None }
    }

    fn values(&self) -> Node {
        Node::Values { types: self.types.clone(), rows: self.rows.clone() }
    }

    /// Returns a value of a column: one that is there, or another of its kind.
    fn some(&self, random: &mut Random, at: usize) -> Value {
        match self.rows.is_empty() || below(random, 4) == 0 {
            false => self.rows[below(random, self.rows.len())][at].clone(),
            true => match &self.types[at] {
                DataType::Boolean => Value::Bool(true),
                DataType::UInt64 => Value::Decimal(17),
                DataType::Utf8 | DataType::Binary => Value::Bytes(b"text 1000000".to_vec()),
                DataType::Float32 | DataType::Float64 => Value::Float(1.0),
                _ => Value::Int(77),
            },
        }
    }

    fn compare(&self, random: &mut Random, at: usize, how: Comparison) -> Expression {
        let of = &self.types[at];
        let literal = Expression::new(of.clone(), Operation::Literal(self.some(random, at)));
        compare(how, column(at, of), literal)
    }
}

fn compare(how: Comparison, a: Expression, b: Expression) -> Expression {
    Expression::new(DataType::Boolean, Operation::Compare(how, Box::new([a, b])))
}

fn rows_of(plan: &Node, threads: usize) -> Vec<String> {
    let mut all = Vec::new();
    let context = context(threads, 64 << 20);
    run(plan, &context, &mut |batch| {
        assert!(batch.columns.iter().all(|column| column.len() == batch.rows));
        for row in 0..batch.rows {
            all.push(text(&batch.columns.iter().map(|column| column.value(row)).collect()));
        }
        Ok(())
    })
    .unwrap();
    all.sort_unstable();
    all
}

fn check(have: &Node, want: &Node, threads: usize) {
    let (have_rows, want_rows) = (rows_of(have, threads), rows_of(want, 1));
    assert!(
        have_rows == want_rows,
        "{have}{} rows, not {}\n{:?}\n{:?}",
        have_rows.len(),
        want_rows.len(),
        have_rows.iter().take(3).collect::<Vec<_>>(),
        want_rows.iter().take(3).collect::<Vec<_>>()
    );
}

#[test]
fn scans_give_the_rows_that_meet_conditions() {
    let folder = folder("scans");
    let mut random = Random::new(71);
    let mut looked_up = 0;
    for round in 0..120 {
        let case = case(&mut random, &folder.0.join(format!("{round}")), 1 + round % 3);
        check(&Node::Scan(case.scan(Vec::new())), &case.values(), 1 + round % 3);
        for _ in 0..8 {
            let how = [Comparison::Equal, Comparison::Greater, Comparison::LessOrEqual, Comparison::GreaterOrEqual];
            let mut conditions = Vec::new();
            let whole = below(&mut random, 2) == 0;
            for at in 0..case.types.len() {
                if at < case.keys && whole {
                    let list = (0..below(&mut random, 5)).map(|_| case.some(&mut random, at)).collect();
                    let value = Box::new(column(at, &case.types[at]));
                    conditions.push(match below(&mut random, 3) {
                        0 => Expression::new(DataType::Boolean, Operation::In { value, list, negated: false }),
                        1 => {
                            let parts = (0..2).map(|_| case.compare(&mut random, at, Comparison::Equal)).collect();
                            Expression::new(DataType::Boolean, Operation::Or(parts))
                        }
                        _ => case.compare(&mut random, at, Comparison::Equal),
                    });
                } else if below(&mut random, 3) == 0 {
                    let how = how[below(&mut random, 4)];
                    conditions.push(case.compare(&mut random, at, how));
                }
            }
            let scan = case.scan(conditions.clone());
            assert!(lookup::keys_of(&scan).is_some() || !whole);
            looked_up += usize::from(lookup::keys_of(&scan).is_some());
            let all = Expression::new(DataType::Boolean, Operation::And(conditions));
            check(&Node::Scan(scan), &Node::Filter { input: Box::new(case.values()), condition: all }, 1 + round % 3);
        }
    }
    assert!(looked_up > 100);
}

#[test]
fn joins_look_up_the_rows_of_their_keys() {
    let folder = folder("joins");
    let mut random = Random::new(72);
    for round in 0..135 {
        let case = case(&mut random, &folder.0.join(format!("{round}")), 1 + round % 3);
        let count = [0, 1, 50, 9_000][below(&mut random, 4)];
        let row = |random: &mut Random| -> Row {
            let is_null = |random: &mut Random| below(random, 10) == 0;
            let key = |at| if is_null(random) { Value::Null } else { case.some(random, at) };
            let mut row: Row = (0..case.keys).map(key).collect();
            row.push(Value::Int(below(random, 50) as i64));
            row
        };
        // Rows of a list multiply.
        let count = if case.rows.len() > 5_000 { count.min(50) } else { count };
        let rows: Vec<Row> = (0..count).map(|_| row(&mut random)).collect();
        let mut types = case.types[..case.keys].to_vec();
        types.push(DataType::Int64);
        let other = Node::Values { types: types.clone(), rows };
        let kind = KINDS[round % KINDS.len()];
        let table_is_left = below(&mut random, 2) == 0;
        let mut order: Vec<usize> = (0..case.keys).collect();
        if below(&mut random, 2) == 0 {
            order.reverse();
        }
        let key = |at: &usize| (column(*at, &case.types[*at]), column(*at, &case.types[*at]));
        let width = case.types.len();
        let number = if table_is_left { width + case.keys } else { case.keys };
        let literal = Expression::new(DataType::Int64, Operation::Literal(Value::Int(25)));
        let condition = compare(Comparison::Less, column(number, &DataType::Int64), literal);
        let conditions = match below(&mut random, 3) {
            0 => vec![case.compare(&mut random, width - 1, Comparison::GreaterOrEqual)],
            _ => Vec::new(),
        };
        let join = |table: Node| {
            let (left, right) = if table_is_left { (table, other.clone()) } else { (other.clone(), table) };
            Node::Join(Join {
                left: Box::new(left),
                right: Box::new(right),
                kind,
                keys: order.iter().map(key).collect(),
                nulls_equal: round % 5 == 0,
                condition: (round % 4 == 0).then(|| condition.clone()),
                build_left: round % 2 == 0,
            })
        };
        let have = join(Node::Scan(case.scan(conditions.clone())));
        let all = Expression::new(DataType::Boolean, Operation::And(conditions));
        let want = join(Node::Filter { input: Box::new(case.values()), condition: all });
        use yunti_sql_plan::JoinKind::{Full, Inner, Left, LeftAnti, LeftMark, LeftSemi};
        let is_looked_up = match kind {
            Inner => true,
            Full => false,
            Left | LeftSemi | LeftAnti | LeftMark => !table_is_left,
            _ => table_is_left,
        };
        assert_eq!(have.to_string().contains("look-up by the key of t"), is_looked_up, "{have}");
        check(&have, &want, 1 + round % 3);
    }
}

#[test]
fn semi_joins_of_few_keys_look_up_their_rows() {
    use yunti_sql_plan::JoinKind::{LeftAnti, LeftSemi, RightAnti, RightSemi};
    let folder = folder("semi");
    let mut random = Random::new(74);
    let mut looked_up = 0;
    for round in 0..100 {
        let case = case(&mut random, &folder.0.join(format!("{round}")), 1 + round % 3);
        let row = |random: &mut Random| -> Row {
            let is_null = |random: &mut Random| below(random, 8) == 0;
            (0..case.keys).map(|at| if is_null(random) { Value::Null } else { case.some(random, at) }).collect()
        };
        // Some keys come twice.
        let mut rows: Vec<Row> = (0..[0, 1, 9, 60][below(&mut random, 4)]).map(|_| row(&mut random)).collect();
        rows.extend_from_within(..rows.len() / 2);
        let other = Node::Values { types: case.types[..case.keys].to_vec(), rows };
        let kind = [LeftSemi, RightSemi, LeftAnti, RightAnti][round % 4];
        let key = |at: usize| (column(at, &case.types[at]), column(at, &case.types[at]));
        let join = |table: Node| {
            let is_left = matches!(kind, LeftSemi | LeftAnti);
            let (left, right) = if is_left { (table, other.clone()) } else { (other.clone(), table) };
            Node::Join(Join {
                left: Box::new(left),
                right: Box::new(right),
                kind,
                keys: (0..case.keys).rev().map(key).collect(),
                nulls_equal: round % 5 == 0,
                condition: None,
                build_left: round % 2 == 0,
            })
        };
        let have = yunti_sql_plan::order::order(join(Node::Scan(case.scan(Vec::new()))));
        let is_looked_up = have.to_string().contains("look-up by the key of t");
        assert!(!is_looked_up || matches!(kind, LeftSemi | RightSemi), "{have}");
        looked_up += usize::from(is_looked_up);
        check(&have, &join(case.values()), 1 + round % 3);
    }
    assert!(looked_up > 15, "{looked_up}");
}

#[test]
fn keys_with_many_rows_in_several_files() {
    let folder = folder("many");
    let columns = || vec![Column::new("k", Kind::I64, false), Column::new("v", Kind::I64, false)];
    let mut parts = Vec::new();
    for number in 0..2_i64 {
        let path = folder.0.join(format!("{number}.ytab"));
        let settings = Settings { duplicates: Duplicates::List, ..Settings::default() };
        let gather = Gather::new(Schema::new(columns(), vec![0]).unwrap(), &path, &settings);
        let mut feeder = gather.feeder();
        for row in 0..50_000_i64 {
            // More rows than a look-up holds.
            let (key, value) = ((row % 10 / 9).to_le_bytes(), (row * 2 + number).to_le_bytes());
            feeder.add(&[Some(&key), Some(&value)], row as u64 + 1).unwrap();
        }
        feeder.finish().unwrap();
        write(&path, gather, &settings).unwrap();
        let table = Arc::new(table("t", &path).unwrap());
        parts.push(Part { table, files: 1, columns: vec![Origin::Same(0), Origin::Same(1)] });
    }
    let table = Arc::new(Parts::new(parts[0].table.fields.clone(), parts).table("t"));
    let types = vec![DataType::Int64];
    let rows = [0, 1, 2].map(|key| vec![Value::Int(key)]).to_vec();
    let join = Node::Join(Join {
        left: Box::new(Node::Values { types, rows }),
        right: Box::new(Node::Scan(Scan { table, columns: vec![0, 1], conditions: Vec::new(), limit: None })),
        kind: yunti_sql_plan::JoinKind::Left,
        keys: vec![(column(0, &DataType::Int64), column(0, &DataType::Int64))],
        nulls_equal: false,
        condition: None,
        build_left: false,
    });
    assert!(join.to_string().contains("look-up by the key of t"), "{join}");
    let found = rows_of(&join, 1);
    assert_eq!(found.len(), 100_001);
    let mut distinct = found;
    distinct.dedup();
    assert_eq!(distinct.len(), 100_001);
}

#[test]
fn damage_is_an_error_with_the_file() {
    let folder = folder("damage");
    let mut random = Random::new(73);
    let path = folder.0.join("a.0.ytab");
    let case = loop {
        let case = case(&mut random, &folder.0.join("a"), 1);
        // Its middle is behind the block of the header.
        if fs::metadata(&path).unwrap().len() > 4 << 16 {
            break case;
        }
    };
    drop(case.table);
    let length = fs::metadata(&path).unwrap().len();
    let mut file = OpenOptions::new().read(true).write(true).open(&path).unwrap();
    file.seek(SeekFrom::Start(length / 2)).unwrap();
    file.write_all(b"damage that no row has").unwrap();
    let opened = table("t", &path).unwrap();
    let columns = (0..opened.fields.len()).collect();
    let scan = Scan { table: Arc::new(opened), columns, conditions: Vec::new(), limit: None };
    let error = run(&Node::Scan(scan), &context(2, 64 << 20), &mut |_| Ok(())).unwrap_err();
    assert_eq!((error.code(), error.path()), (Code::Corrupt, path.to_str()));
    file.set_len(length / 2).unwrap();
    assert_eq!(table("t", &path).unwrap_err().code(), Code::Corrupt);
    fs::write(&path, b"YTAB\x89 and nothing more").unwrap();
    assert_eq!(table("t", &path).unwrap_err().code(), Code::Input);
}
