//! Windows against a reference that looks at all rows of a partition for each row.

use std::cmp::Ordering;

use arrow_schema::DataType;
use yunti_base::{Code, Result};
use yunti_engine::columns::normal::ordered_float;
use yunti_engine::columns::vector::Value;
use yunti_engine::env::random::Random;
use yunti_sql_plan::{
    AggregateFunction, Frame, FrameEnd, FrameUnit, Interval, Node, Offset, SortKey, Window, WindowCall, WindowFunction,
};

use crate::expression::intervals::{DAY_NANOS, moved};
use crate::store::random::{self, Row, below, column, context};

const BIG: DataType = DataType::Decimal128(38, 2);

fn compare(a: &Value, b: &Value, descending: bool, nulls_first: bool) -> Ordering {
    let order = match (a, b) {
        (Value::Null, Value::Null) => return Ordering::Equal,
        (Value::Null, _) => return if nulls_first { Ordering::Less } else { Ordering::Greater },
        (_, Value::Null) => return if nulls_first { Ordering::Greater } else { Ordering::Less },
        (Value::Float(a), Value::Float(b)) => ordered_float(*a).cmp(&ordered_float(*b)),
        (Value::Int(a), Value::Int(b)) => a.cmp(b),
        (Value::Bool(a), Value::Bool(b)) => a.cmp(b),
        (Value::Decimal(a), Value::Decimal(b)) => a.cmp(b),
        (Value::Bytes(a), Value::Bytes(b)) => a.cmp(b),
        _ => panic!("values of two types"),
    };
    if descending { order.reverse() } else { order }
}

fn same(a: &Value, b: &Value) -> bool {
    compare(a, b, false, false).is_eq()
}

/// Rows of one partition in order.
struct Partition<'r> {
    rows: Vec<&'r Row>,
    order: Vec<(usize, bool, bool)>,
}

impl Partition<'_> {
    fn are_peers(&self, a: usize, b: usize) -> bool {
        self.order.iter().all(|(n, ..)| same(&self.rows[a][*n], &self.rows[b][*n]))
    }

    /// Returns the number of the group of each row.
    fn group(&self, row: usize) -> i64 {
        (1..=row).filter(|&at| !self.are_peers(at - 1, at)).count() as i64
    }

    /// Returns a number that orders the keys of ranges, moved by an offset.
    fn key(&self, row: usize, offset: Option<(&Offset, bool)>) -> Option<(i128, f64)> {
        let (n, descending, _) = self.order[0];
        let adds = offset.is_some_and(|(_, is_ahead)| is_ahead != descending);
        let sign = if adds { 1 } else { -1 };
        Some(match (&self.rows[row][n], offset.map(|(of, _)| of)) {
            (Value::Null, _) => return None,
            (Value::Int(v), None) => (i128::from(*v) * DAY_NANOS, 0.0),
            (Value::Int(v), Some(Offset::Value(Value::Int(by)))) => {
                ((i128::from(*v) + sign * i128::from(*by)) * DAY_NANOS, 0.0)
            }
            (Value::Int(v), Some(Offset::Interval(by))) => (moved(i128::from(*v) * DAY_NANOS, *by, adds), 0.0),
            (Value::Decimal(v), None) => (*v, 0.0),
            (Value::Decimal(v), Some(Offset::Value(Value::Decimal(by)))) => (v.saturating_add(sign * by), 0.0),
            (Value::Float(v), None) => (0, *v),
            (Value::Float(v), Some(Offset::Value(Value::Float(by)))) => (0, v + sign as f64 * by),
            other => panic!("{other:?}"),
        })
    }

    /// Returns the order of `row` among all against an end of the frame of `current`: Equal is within.
    fn side(&self, unit: FrameUnit, end: &FrameEnd, row: usize, current: usize) -> Ordering {
        let steps = |offset: &Offset| match offset {
            Offset::Value(Value::Int(steps)) => *steps,
            _ => 0,
        };
        let shift = match (end, unit) {
            (FrameEnd::UnboundedPreceding, _) => return Ordering::Greater,
            (FrameEnd::UnboundedFollowing, _) => return Ordering::Less,
            (FrameEnd::CurrentRow, FrameUnit::Range) => return self.group(row).cmp(&self.group(current)),
            (FrameEnd::Preceding(of), FrameUnit::Range) => return self.by_value(of, false, row, current),
            (FrameEnd::Following(of), FrameUnit::Range) => return self.by_value(of, true, row, current),
            (FrameEnd::CurrentRow, _) => 0,
            (FrameEnd::Preceding(of), _) => -steps(of),
            (FrameEnd::Following(of), _) => steps(of),
        };
        match unit {
            FrameUnit::Rows => (row as i64).cmp(&(current as i64).saturating_add(shift)),
            _ => self.group(row).cmp(&self.group(current).saturating_add(shift)),
        }
    }

    fn by_value(&self, offset: &Offset, is_ahead: bool, row: usize, current: usize) -> Ordering {
        let (_, descending, nulls_first) = self.order[0];
        match (self.key(row, None), self.key(current, Some((offset, is_ahead)))) {
            (None, None) => Ordering::Equal,
            (None, Some(_)) => {
                if nulls_first {
                    Ordering::Less
                } else {
                    Ordering::Greater
                }
            }
            (Some(_), None) => {
                if nulls_first {
                    Ordering::Greater
                } else {
                    Ordering::Less
                }
            }
            (Some(a), Some(b)) => {
                let order = a.0.cmp(&b.0).then(ordered_float(a.1).cmp(&ordered_float(b.1)));
                if descending { order.reverse() } else { order }
            }
        }
    }

    /// Returns the rows of a frame.
    fn frame(&self, frame: &Frame, current: usize) -> Vec<usize> {
        let is_within = |&row: &usize| {
            self.side(frame.unit, &frame.start, row, current).is_ge()
                && self.side(frame.unit, &frame.end, row, current).is_le()
        };
        (0..self.rows.len()).filter(is_within).collect()
    }

    fn value(&self, call: &WindowCall, places: &[usize], condition: Option<usize>, current: usize) -> Value {
        let n = self.rows.len();
        let whole = |value: usize| Value::Int(value as i64);
        let peers = |row: usize| self.are_peers(row, current);
        let first_peer = (0..n).find(|&row| peers(row)).unwrap();
        let of = |row: usize| self.rows[row][places[0]].clone();
        let has_value = |row: &usize| !call.ignores_nulls || of(*row) != Value::Null;
        match call.function {
            WindowFunction::RowNumber => whole(current + 1),
            WindowFunction::Rank => whole(first_peer + 1),
            WindowFunction::DenseRank => Value::Int(self.group(current) + 1),
            WindowFunction::PercentRank => Value::Float(first_peer as f64 / (n - 1).max(1) as f64),
            WindowFunction::CumeDist => {
                Value::Float((0..n).filter(|&row| row <= current || peers(row)).count() as f64 / n as f64)
            }
            WindowFunction::Ntile(parts) => {
                let sizes = (0..parts).map(|part| n as u64 / parts + u64::from(part < n as u64 % parts));
                let ends = sizes.scan(0, |sum, size| {
                    *sum += size;
                    Some(*sum)
                });
                whole(1 + ends.take_while(|&end| end <= current as u64).count())
            }
            WindowFunction::Lag(0) => of(current),
            WindowFunction::Lag(back) => {
                let rows: Vec<usize> = if back > 0 { (0..current).rev().collect() } else { (current + 1..n).collect() };
                let at = rows.into_iter().filter(has_value).nth(back.unsigned_abs() as usize - 1);
                match (at, places.get(1)) {
                    (Some(row), _) => of(row),
                    (None, Some(&default)) => self.rows[current][default].clone(),
                    (None, None) => Value::Null,
                }
            }
            WindowFunction::FirstValue | WindowFunction::LastValue | WindowFunction::NthValue(_) => {
                let rows: Vec<usize> = self.frame(&call.frame, current).into_iter().filter(has_value).collect();
                let at = match call.function {
                    WindowFunction::FirstValue => rows.first(),
                    WindowFunction::LastValue => rows.last(),
                    WindowFunction::NthValue(n) if n > 0 => rows.get(n as usize - 1),
                    WindowFunction::NthValue(n) if n < 0 => rows.iter().rev().nth(n.unsigned_abs() as usize - 1),
                    _ => None,
                };
                at.map_or(Value::Null, |&row| of(row))
            }
            WindowFunction::Aggregate(function) => {
                let mut values: Vec<Value> = self
                    .frame(&call.frame, current)
                    .into_iter()
                    .filter(|&row| condition.is_none_or(|n| self.rows[row][n] == Value::Bool(true)))
                    .map(|row| places.first().map_or(Value::Int(1), |_| of(row)))
                    .filter(|value| *value != Value::Null)
                    .collect();
                if call.distinct {
                    values.sort_by(|a, b| compare(a, b, false, false));
                    values.dedup_by(|a, b| same(a, b));
                }
                aggregate(function, values, &call.data_type)
            }
        }
    }
}

fn aggregate(function: AggregateFunction, values: Vec<Value>, data_type: &DataType) -> Value {
    use AggregateFunction as F;
    let floats: Vec<f64> = values
        .iter()
        .map(|value| match value {
            Value::Int(v) => *v as f64,
            Value::Float(v) => *v,
            _ => 0.0,
        })
        .collect();
    let n = floats.len() as f64;
    // Halves below 2^40 add up exactly.
    let sum: f64 = floats.iter().sum();
    match function {
        F::Count => return Value::Int(values.len() as i64),
        _ if values.is_empty() => return Value::Null,
        F::Min | F::BoolAnd | F::AnyValue => {
            return values.into_iter().min_by(|a, b| compare(a, b, false, false)).unwrap();
        }
        F::Max | F::BoolOr => return values.into_iter().max_by(|a, b| compare(a, b, false, false)).unwrap(),
        _ => {}
    }
    match (function, data_type) {
        (F::Sum, DataType::Float64) => Value::Float(sum),
        (F::Average, _) => Value::Float(sum / n),
        (F::Sum, DataType::Int64) => {
            Value::Int(values.iter().map(|v| if let Value::Int(v) = v { *v } else { 0 }).sum())
        }
        (F::Sum, _) => Value::Decimal(values.iter().map(|v| if let Value::Decimal(v) = v { *v } else { 0 }).sum()),
        _ => {
            let is_sample = matches!(function, F::Variance | F::StandardDeviation);
            if is_sample && n < 2.0 {
                return Value::Null;
            }
            let mean = sum / n;
            let squares: f64 = floats.iter().map(|v| (v - mean) * (v - mean)).sum();
            let variance = squares / if is_sample { n - 1.0 } else { n };
            Value::Float(match function {
                F::StandardDeviation | F::StandardDeviationPopulation => variance.sqrt(),
                _ => variance,
            })
        }
    }
}

fn plain(value: &Value) -> String {
    match value {
        Value::Float(v) if v.is_nan() => "NaN".into(),
        // Variances of the reference are rounded on the way.
        Value::Float(v) => format!("{:.7e}", v + 0.0),
        other => format!("{other:?}"),
    }
}

/// Returns the rows with the values of the calls, in the order of the partitions.
fn expect(window: &Window, rows: &[Row]) -> Vec<String> {
    let place = |of: &yunti_sql_plan::Expression| match of.operation {
        yunti_sql_plan::Operation::Column(n) => n,
        _ => panic!("no column"),
    };
    let partition: Vec<usize> = window.partition.iter().map(place).collect();
    let order: Vec<(usize, bool, bool)> =
        window.order.iter().map(|key| (place(&key.value), key.descending, key.nulls_first)).collect();
    let mut sorted: Vec<&Row> = rows.iter().collect();
    let width = rows.first().map_or(0, Vec::len);
    // A key that comes again decides nothing.
    let keys: Vec<(usize, bool, bool)> = partition.iter().map(|&n| (n, false, false)).chain(order.clone()).collect();
    if !keys.is_empty() {
        sorted.sort_by(|a, b| {
            let all = keys.iter().copied().chain((0..width).map(|n| (n, false, false)));
            let compared = all.map(|(n, descending, first)| compare(&a[n], &b[n], descending, first));
            compared.fold(Ordering::Equal, Ordering::then)
        });
    }
    let mut out = Vec::new();
    let mut rest = &sorted[..];
    while let Some(first) = rest.first() {
        let len = rest.iter().take_while(|row| partition.iter().all(|&n| same(&row[n], &first[n]))).count();
        let of = Partition { rows: rest[..len].to_vec(), order: order.clone() };
        for row in 0..len {
            let mut values: Vec<String> = of.rows[row].iter().map(plain).collect();
            for call in &window.calls {
                let places: Vec<usize> = call.arguments.iter().map(place).collect();
                values.push(plain(&of.value(call, &places, call.condition.as_ref().map(place), row)));
            }
            out.push(values.join(" "));
        }
        rest = &rest[len..];
    }
    out
}

/// Runs a window. Rows that are equal in all columns may change places.
fn run(window: &Window, pipeline: crate::pipeline::Pipeline, threads: usize, bytes: u64) -> Result<Vec<String>> {
    let context = context(threads, bytes);
    let mut out = Vec::new();
    {
        let pipeline = super::run(window, |_| Ok(pipeline), &context)?;
        let mut put = |batch: yunti_sql_plan::Batch| {
            assert!(batch.rows > 0 && batch.columns.iter().all(|column| column.len() == batch.rows));
            for row in 0..batch.rows {
                let values: Vec<String> = batch.columns.iter().map(|column| plain(&column.value(row))).collect();
                out.push(values.join(" "));
            }
            Ok(())
        };
        let sink = crate::pipeline::output::Ordered::new(&mut put, (0, None), threads);
        pipeline.run(&sink, &context)?;
    }
    assert_eq!(context.budget.used_bytes(), 0, "memory is given back");
    Ok(out)
}

fn end(random: &mut Random, unit: FrameUnit, key: Option<&DataType>) -> FrameEnd {
    let offset = |random: &mut Random| match (unit, key) {
        (FrameUnit::Range, Some(DataType::Date32)) if below(random, 2) == 0 => {
            let (months, days) = (below(random, 3) as i32, below(random, 9) as i32);
            Some(Offset::Interval(Interval { months, days, nanos: below(random, 2) as i64 * 1_000 }))
        }
        (FrameUnit::Range, Some(DataType::Int64)) => Some(Offset::Value(Value::Int(below(random, 6) as i64))),
        (FrameUnit::Range, Some(DataType::Float64)) => {
            Some(Offset::Value(Value::Float(below(random, 6) as f64 * 0.75)))
        }
        (FrameUnit::Range, Some(DataType::Decimal128(..))) => {
            Some(Offset::Value(Value::Decimal(below(random, 6) as i128)))
        }
        (FrameUnit::Range, _) => None,
        _ => Some(Offset::Value(Value::Int(match below(random, 12) {
            0 => i64::MAX,
            n => n as i64 % 5,
        }))),
    };
    match (below(random, 3), offset(random)) {
        (0, Some(offset)) => FrameEnd::Preceding(offset),
        (1, Some(offset)) => FrameEnd::Following(offset),
        _ => FrameEnd::CurrentRow,
    }
}

fn frame(random: &mut Random, order: &[SortKey]) -> Frame {
    let unit = [FrameUnit::Rows, FrameUnit::Range, FrameUnit::Groups][below(random, 3)];
    let key = if let [key] = order { Some(&key.value.data_type) } else { None };
    let start = if below(random, 3) == 0 { FrameEnd::UnboundedPreceding } else { end(random, unit, key) };
    let end = if below(random, 3) == 0 { FrameEnd::UnboundedFollowing } else { end(random, unit, key) };
    Frame { unit, start, end }
}

fn call(random: &mut Random, types: &[DataType], order: &[SortKey]) -> WindowCall {
    use AggregateFunction as F;
    let typed = |random: &mut Random, fits: &dyn Fn(&DataType) -> bool| {
        let all: Vec<usize> = (0..types.len()).filter(|&n| fits(&types[n])).collect();
        let n = *all.get(below(random, all.len()))?;
        Some(column(n, &types[n]))
    };
    let mut arguments = Vec::new();
    let mut data_type = DataType::Int64;
    let function = match below(random, 12) {
        0 => WindowFunction::RowNumber,
        1 => [WindowFunction::Rank, WindowFunction::DenseRank][below(random, 2)],
        2 => {
            data_type = DataType::Float64;
            [WindowFunction::PercentRank, WindowFunction::CumeDist][below(random, 2)]
        }
        3 => WindowFunction::Ntile([1, 2, 3, 7, 1 << 40][below(random, 5)]),
        4 | 5 => {
            let of = typed(random, &|_| true).unwrap();
            data_type = of.data_type.clone();
            arguments.push(of);
            if below(random, 2) == 0 {
                arguments.push(typed(random, &|of| *of == data_type).unwrap());
            }
            WindowFunction::Lag([0, 1, 2, 5, -1, -3, i64::MAX, i64::MIN][below(random, 8)])
        }
        6 | 7 => {
            let of = typed(random, &|_| true).unwrap();
            data_type = of.data_type.clone();
            arguments.push(of);
            [
                WindowFunction::FirstValue,
                WindowFunction::LastValue,
                WindowFunction::NthValue([0, 1, 2, 3, -1, -2, i64::MAX, i64::MIN][below(random, 8)]),
            ][below(random, 3)]
        }
        _ => WindowFunction::Aggregate(match below(random, 6) {
            0 => F::Count,
            1 => {
                arguments.extend(typed(random, &|_| true));
                F::Count
            }
            2 => {
                match typed(random, &|of| matches!(of, DataType::Int64 | DataType::Float64 | DataType::Decimal128(..)))
                {
                    Some(of) => {
                        data_type = match of.data_type {
                            DataType::Decimal128(..) => BIG,
                            ref other => other.clone(),
                        };
                        arguments.push(of);
                        F::Sum
                    }
                    None => F::Count,
                }
            }
            3 => match typed(random, &|of| matches!(of, DataType::Float64)) {
                Some(of) => {
                    data_type = DataType::Float64;
                    arguments.push(of);
                    [F::Average, F::Variance, F::VariancePopulation, F::StandardDeviation][below(random, 4)]
                }
                None => F::Count,
            },
            _ => {
                let of = typed(random, &|_| true).unwrap();
                data_type = of.data_type.clone();
                arguments.push(of);
                if data_type == DataType::Boolean {
                    [F::BoolAnd, F::BoolOr][below(random, 2)]
                } else {
                    [F::Min, F::Max][below(random, 2)]
                }
            }
        }),
    };
    let is_aggregate = matches!(function, WindowFunction::Aggregate(_));
    let condition =
        if is_aggregate && below(random, 4) == 0 { typed(random, &|of| *of == DataType::Boolean) } else { None };
    WindowCall {
        function,
        condition,
        distinct: is_aggregate && !arguments.is_empty() && below(random, 4) == 0,
        arguments,
        ignores_nulls: !is_aggregate && below(random, 3) == 0,
        frame: frame(random, order),
        data_type,
    }
}

/// Returns false if the rows do not fit in memory.
fn check(random: &mut Random, n: usize, threads: usize, bytes: u64) -> bool {
    let types: Vec<DataType> =
        (0..1 + below(random, 4)).map(|_| random::all_types()[below(random, 7)].clone()).collect();
    let distinct = [2, 5, 40][below(random, 3)];
    let rows = random::rows(random, &types, n, distinct, 15);
    let columns = |random: &mut Random, most: usize| -> Vec<usize> {
        (0..below(random, most)).map(|_| below(random, types.len())).collect()
    };
    let partition: Vec<_> = columns(random, 3).into_iter().map(|n| column(n, &types[n])).collect();
    let order: Vec<SortKey> = columns(random, 3)
        .into_iter()
        .map(|n| SortKey {
            value: column(n, &types[n]),
            descending: below(random, 2) == 0,
            nulls_first: below(random, 2) == 0,
        })
        .collect();
    let calls: Vec<WindowCall> = (0..1 + below(random, 3)).map(|_| call(random, &types, &order)).collect();
    let input = Box::new(Node::Values { types: types.clone(), rows: Vec::new() });
    let window = Window { input, partition, order, calls };
    let most = [1, 7, 100][below(random, 3)];
    let pipeline = random::pipeline(random, &types, &rows, most);
    match run(&window, pipeline, threads, bytes) {
        Ok(have) => {
            let want = expect(&window, &rows);
            let at = have.iter().zip(&want).position(|(a, b)| a != b);
            let first = at.map(|n| (n, &have[n], &want[n]));
            assert!(have == want, "{n} rows, {types:?}\n{first:#?}\n{}", Node::Window(window).to_string());
            true
        }
        Err(e) => {
            assert!(e.code() == Code::Memory && bytes < 1 << 20, "{e}");
            false
        }
    }
}

#[test]
fn equals_the_reference_for_each_function_frame_and_type() {
    let mut random = Random::new(71);
    for _ in 0..1500 {
        let n = [0, 1, 2, 20, 70][below(&mut random, 5)];
        let threads = 1 + below(&mut random, 3);
        check(&mut random, n, threads, 1 << 30);
    }
}

#[test]
fn more_rows_than_a_batch() {
    let mut random = Random::new(72);
    for _ in 0..12 {
        let threads = 1 + below(&mut random, 3);
        check(&mut random, 300, threads, 1 << 30);
    }
}

/// Budgets in which no partition fits, or few do.
#[test]
fn partitions_larger_than_memory_give_the_same() {
    let mut random = Random::new(73);
    let mut fits = 0;
    for _ in 0..120 {
        let n = [80, 250][below(&mut random, 2)];
        let threads = 1 + below(&mut random, 3);
        let bytes = [0, 16 << 10, 64 << 10][below(&mut random, 3)];
        fits += usize::from(check(&mut random, n, threads, bytes));
    }
    assert!(fits > 60, "{fits} of 120");
}

/// A window whose input has the order of a third window must not take that for the order of its own keys.
#[test]
fn windows_over_windows_share_only_the_order_that_there_is() {
    fn pipeline(node: &Node, input: &crate::pipeline::Pipeline, context: &crate::Context) -> crate::pipeline::Pipeline {
        match node {
            Node::Window(window) => super::run(window, |node| Ok(pipeline(node, input, context)), context).unwrap(),
            _ => input.clone(),
        }
    }
    let types = [DataType::Int64, DataType::Int64];
    let mut random = Random::new(74);
    let rows = random::rows(&mut random, &types, 300, 4, 10);
    let orders: [&[usize]; 6] = [&[0, 1], &[1, 0], &[1], &[0], &[], &[0, 0, 1]];
    for case in 0..60 {
        let mut node = Node::Values { types: types.to_vec(), rows: Vec::new() };
        let mut expect: Vec<Vec<usize>> = Vec::new();
        for _ in 0..3 {
            let by = orders[below(&mut random, orders.len())];
            let split = if by.len() > 1 && below(&mut random, 3) == 0 { 1 } else { by.len() };
            let (partition, order) = by.split_at(split);
            let key = |&n: &usize| SortKey { value: column(n, &types[n]), descending: false, nulls_first: false };
            let frame =
                Frame { unit: FrameUnit::Rows, start: FrameEnd::UnboundedPreceding, end: FrameEnd::UnboundedFollowing };
            let call = WindowCall {
                function: WindowFunction::Aggregate(AggregateFunction::Count),
                arguments: Vec::new(),
                condition: None,
                distinct: false,
                ignores_nulls: false,
                frame,
                data_type: DataType::Int64,
            };
            let partition_keys = partition.iter().map(|&n| column(n, &types[n])).collect();
            let order = order.iter().map(key).collect();
            node = Node::Window(Window { input: Box::new(node), partition: partition_keys, order, calls: vec![call] });
            expect.push(partition.to_vec());
        }
        let input = random::pipeline(&mut random, &types, &rows, 50);
        let context = context(1 + case % 3, 1 << 30);
        let have = random::run(&pipeline(&node, &input, &context), &context).unwrap();
        let count = |row: &Row, by: &Vec<usize>| {
            let is_like = |other: &&Row| by.iter().all(|&n| same(&other[n], &row[n]));
            Value::Int(rows.iter().filter(is_like).count() as i64)
        };
        let counted =
            |row: &Row| random::text(&row.iter().cloned().chain(expect.iter().map(|by| count(row, by))).collect());
        let mut want: Vec<String> = rows.iter().map(counted).collect();
        let mut have: Vec<String> = have;
        want.sort();
        have.sort();
        assert!(have == want, "{node}");
    }
}
