//! Aggregates against a map of groups that holds all their values.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use arrow_schema::{DataType, TimeUnit};
use yunti_base::{Cancel, Code, Result};
use yunti_engine::columns::normal;
use yunti_engine::columns::vector::{Data, Value, Vector};
use yunti_engine::env::Env;
use yunti_engine::env::random::Random;
use yunti_engine::memory::Budget;
use yunti_sql_plan::{Aggregate, AggregateFunction, Batch, Expression, kind_of};

use super::run;
use crate::context::Context;
use crate::pipeline::Pipeline;
use crate::pipeline::output::Ordered;
use crate::pipeline::rows::Batches;

type Row = Vec<Value>;

fn context(threads: usize, budget: u64) -> Context {
    Context::new(Env::real(), Budget::new(budget), threads, Cancel::default())
}

/// Runs batches, and returns the rows in order.
fn rows_of(
    batches: Vec<Batch>,
    (keys, sets): (&[Expression], &[Vec<usize>]),
    aggregates: &[Aggregate],
    context: &Context,
) -> Result<Vec<Row>> {
    let input = Pipeline::of(Batches::of(batches));
    let pipeline = run((&input, &[]), None, (keys, sets), aggregates, context)?;
    let mut rows = Vec::new();
    let mut out = |batch: Batch| {
        assert!(batch.rows <= 8192 && batch.columns.iter().all(|column| column.len() == batch.rows));
        rows.extend((0..batch.rows).map(|row| batch.columns.iter().map(|column| column.value(row)).collect::<Row>()));
        Ok(())
    };
    pipeline.run(&Ordered::new(&mut out, (0, None), context.threads), context)?;
    drop(pipeline);
    assert_eq!(context.budget.used_bytes(), 0, "memory is left behind");
    Ok(rows)
}

/// A value in the form by which equal values are equal.
fn form(value: &Value) -> Vec<u8> {
    let mut form = Vec::new();
    normal::put(value.cell(), &mut form);
    form
}

fn forms(row: &[Value]) -> Vec<Vec<u8>> {
    row.iter().map(form).collect()
}

fn types() -> Vec<DataType> {
    vec![
        DataType::Boolean,
        DataType::Int32,
        DataType::Int64,
        DataType::UInt64,
        DataType::Float64,
        DataType::Decimal128(12, 2),
        DataType::Decimal128(30, 3),
        DataType::Utf8,
        DataType::Date32,
        DataType::Timestamp(TimeUnit::Millisecond, None),
    ]
}

fn random_value(data_type: &DataType, distinct: u64, random: &mut Random) -> Value {
    let number = random.below(distinct) as i64 - 3;
    match data_type {
        DataType::Boolean => Value::Bool(number % 2 == 0),
        DataType::UInt64 => Value::Decimal(i128::from(number.unsigned_abs()) << 60),
        DataType::Float64 => Value::Float(match number {
            0 if random.below(2) == 0 => -0.0,
            1 => f64::NAN,
            2 => -f64::NAN,
            n if n % 50 == 3 => n as f64 * 1e250,
            n => n as f64 / 3.0,
        }),
        DataType::Decimal128(12, _) => Value::Decimal(i128::from(number) * 7),
        DataType::Decimal128(..) => Value::Decimal(i128::from(number) << 66),
        DataType::Utf8 => {
            Value::Bytes(if number % 3 == 0 { format!("a longer text {number}") } else { format!("t{number}") }.into())
        }
        DataType::Int32 | DataType::Date32 => Value::Int(number),
        _ => Value::Int(if number == 1 { i64::MIN } else { number << 40 }),
    }
}

/// Makes a column in one of the shapes that a batch may have for it.
fn column(values: &[Value], data_type: &DataType, shape: u64) -> Vector {
    let kind = kind_of(data_type).unwrap();
    let mut builder = yunti_engine::columns::text::Builder::new(kind);
    values.iter().for_each(|value| builder.push_value(value.clone()));
    let mut vector = builder.take();
    if let (Data::Decimals(units), true) = (&vector.data, shape % 2 == 1)
        && units.iter().all(|v| i64::try_from(*v).is_ok())
    {
        vector.data = Data::SmallDecimals(units.iter().map(|v| *v as i64).collect());
    }
    if shape < 2 {
        return vector;
    }
    // Codes of a dictionary backwards, with one value more.
    let backwards: Vec<u32> = (0..values.len() as u32).rev().chain([0]).take(values.len() + 1).collect();
    let rows = values.len() as u32;
    let codes: Vec<u32> = (0..rows).rev().collect();
    if values.is_empty() {
        return vector;
    }
    let data = match vector.data.select(&backwards) {
        Data::Bytes(texts) => Data::Codes(codes, Arc::new(texts)),
        numbers => Data::NumberCodes(codes, Arc::new(numbers)),
    };
    Vector { data, nulls: vector.nulls }
}

/// Cuts rows into batches of random sizes and shapes.
fn batches(rows: &[Row], types: &[DataType], size: u64, random: &mut Random) -> Vec<Batch> {
    let mut all = Vec::new();
    let mut rest = rows;
    while !rest.is_empty() {
        let (rows, behind) = rest.split_at((1 + random.below(size) as usize).min(rest.len()));
        let columns = types.iter().enumerate().map(|(n, data_type)| {
            let values: Vec<Value> = rows.iter().map(|row| row[n].clone()).collect();
            column(&values, data_type, random.below(4))
        });
        all.push(Batch::of(columns.collect(), rows.len()));
        rest = behind;
    }
    all
}

fn aggregate(
    function: AggregateFunction,
    argument: Option<(usize, &DataType)>,
    data_type: DataType,
    (distinct, condition): (bool, Option<usize>),
) -> Aggregate {
    Aggregate {
        function,
        argument: argument.map(|(number, data_type)| Expression::column(number, data_type.clone())),
        distinct,
        condition: condition.map(|number| Expression::column(number, DataType::Boolean)),
        data_type,
        foreign: None,
    }
}

/// All aggregates that values of a type have.
fn aggregates_of(number: usize, data_type: &DataType, condition: usize, random: &mut Random) -> Vec<Aggregate> {
    use AggregateFunction::*;
    let mut all = Vec::new();
    let is_float = *data_type == DataType::Float64;
    let is_decimal = matches!(data_type, DataType::Decimal128(..) | DataType::UInt64);
    for function in [
        Count,
        Sum,
        Min,
        Max,
        Average,
        Variance,
        VariancePopulation,
        StandardDeviation,
        StandardDeviationPopulation,
        ApproximateDistinct,
        BoolAnd,
        BoolOr,
        AnyValue,
    ] {
        let is_number = is_float || is_decimal || matches!(data_type, DataType::Int32 | DataType::Int64);
        let result = match function {
            Count => DataType::Int64,
            ApproximateDistinct => DataType::UInt64,
            Min | Max | AnyValue => data_type.clone(),
            BoolAnd | BoolOr if *data_type == DataType::Boolean => DataType::Boolean,
            Sum if is_number => match data_type {
                DataType::Decimal128(_, scale) => DataType::Decimal128(38, *scale),
                DataType::UInt64 => DataType::Decimal128(38, 0),
                DataType::Float64 => DataType::Float64,
                _ => DataType::Decimal128(38, 0),
            },
            Average if is_number => match data_type {
                DataType::Decimal128(12, 2) => DataType::Decimal128(16, 6),
                _ => DataType::Float64,
            },
            Variance | VariancePopulation | StandardDeviation | StandardDeviationPopulation if is_float => {
                DataType::Float64
            }
            _ => continue,
        };
        let how = (random.below(3) == 0, (random.below(3) == 0).then_some(condition));
        all.push(aggregate(function, Some((number, data_type)), result, how));
    }
    all.push(aggregate(Count, None, DataType::Int64, (false, (random.below(2) == 0).then_some(condition))));
    all
}

/// Returns what an aggregate is by its definition.
fn expected(of: &Aggregate, rows: &[&Row]) -> Value {
    use AggregateFunction::*;
    let column = |of: &Expression| match of.operation {
        yunti_sql_plan::Operation::Column(number) => number,
        _ => unreachable!(),
    };
    let meets = |row: &&&Row| of.condition.as_ref().is_none_or(|of| row[column(of)] == Value::Bool(true));
    let rows: Vec<&&Row> = rows.iter().filter(meets).collect();
    let Some(argument) = &of.argument else { return Value::Int(rows.len() as i64) };
    let mut values: Vec<Value> = rows.iter().map(|row| row[column(argument)].clone()).collect();
    values.retain(|value| *value != Value::Null);
    values.sort_by_key(form);
    if of.distinct || of.function == ApproximateDistinct {
        values.dedup_by_key(|value| form(value));
    }
    let integer = |value: &Value| match value {
        Value::Int(v) => i128::from(*v),
        Value::Decimal(v) => *v,
        _ => panic!("no integer"),
    };
    let floats = || values.iter().map(|v| if let Value::Float(v) = v { *v } else { panic!("no float") });
    let n = values.len();
    match of.function {
        Count => Value::Int(n as i64),
        ApproximateDistinct => Value::Decimal(n as i128),
        _ if n == 0 => Value::Null,
        Min | AnyValue | BoolAnd => values[0].clone(),
        Max | BoolOr => values[n - 1].clone(),
        Sum | Average if argument.data_type == DataType::Float64 => {
            let mut sum = yunti_engine::columns::aggregate::float_sum::FloatSum::default();
            floats().for_each(|v| sum.add(v));
            Value::Float(if of.function == Sum { sum.value() } else { sum.value() / n as f64 })
        }
        Sum => Value::Decimal(values.iter().map(integer).sum()),
        Average => {
            let sum: i128 = values.iter().map(integer).sum();
            let scale = if let DataType::Decimal128(_, scale) = argument.data_type { scale } else { 0 };
            match of.data_type {
                DataType::Float64 => Value::Float(sum as f64 / (n as f64 * 10f64.powi(scale.into()))),
                _ => {
                    let (more, n) = (sum * 10_000, n as i128);
                    let half = if more < 0 { -n } else { n };
                    Value::Decimal((2 * more + half) / (2 * n))
                }
            }
        }
        _ => {
            let is_sample = matches!(of.function, Variance | StandardDeviation);
            if n == 1 && is_sample {
                return Value::Null;
            }
            let mean = floats().sum::<f64>() / n as f64;
            let sum: f64 = floats().map(|v| (v - mean) * (v - mean)).sum();
            let variance = sum / (n - usize::from(is_sample)) as f64;
            let is_deviation = matches!(of.function, StandardDeviation | StandardDeviationPopulation);
            Value::Float(if is_deviation { variance.sqrt() } else { variance })
        }
    }
}

/// Compares a result with the definition: exactly, but for variances.
fn agree(of: &Aggregate, found: &Value, expect: &Value) -> bool {
    use AggregateFunction::*;
    let is_variance =
        matches!(of.function, Variance | VariancePopulation | StandardDeviation | StandardDeviationPopulation);
    match (found, expect) {
        (Value::Float(a), Value::Float(b)) if is_variance => {
            a.is_nan() && !b.is_normal() || (a - b).abs() <= 1e-9 * b.abs() + 1e-300 || b.abs() > 1e300
        }
        (a, b) => form(a) == form(b),
    }
}

fn check(rows: &[Row], keys: &[usize], sets: &[Vec<usize>], aggregates: &[Aggregate], found: &[Row]) {
    let all_keys = [(0..keys.len()).collect::<Vec<_>>()];
    let used: &[Vec<usize>] = if sets.is_empty() { &all_keys } else { sets };
    let mut groups: BTreeMap<Vec<Vec<u8>>, Vec<&Row>> = BTreeMap::new();
    for (number, set) in used.iter().enumerate() {
        for row in rows {
            let mut key: Vec<Vec<u8>> = keys
                .iter()
                .enumerate()
                .map(|(n, &key)| form(if set.contains(&n) { &row[key] } else { &Value::Null }))
                .collect();
            if !sets.is_empty() {
                key.push(form(&Value::Int(number as i64)));
            }
            groups.entry(key).or_default().push(row);
        }
        if set.is_empty() {
            let mut key = vec![form(&Value::Null); keys.len()];
            if !sets.is_empty() {
                key.push(form(&Value::Int(number as i64)));
            }
            groups.entry(key).or_default();
        }
    }
    assert_eq!(found.len(), groups.len(), "number of groups");
    let width = keys.len() + usize::from(!sets.is_empty());
    let mut keys_found = BTreeSet::new();
    for row in found {
        let key = forms(&row[..width]);
        let of_group = groups.get(&key).unwrap_or_else(|| panic!("no group {:?}", &row[..width]));
        for (n, aggregate) in aggregates.iter().enumerate() {
            let expect = expected(aggregate, of_group);
            let value = &row[width + n];
            assert!(agree(aggregate, value, &expect), "{aggregate:?}: {value:?} for {expect:?}");
        }
        assert!(keys_found.insert(key), "a group twice");
    }
}

#[test]
fn any_types_threads_batches_and_memory_give_the_same_rows() {
    let random = &mut Random::new(11);
    for case in 0..70 {
        let all = types();
        let key_count = random.below(4) as usize;
        let mut types: Vec<DataType> = (0..key_count).map(|_| all[random.below(10) as usize].clone()).collect();
        types.push(DataType::Boolean);
        let condition = key_count;
        for _ in 0..1 + random.below(3) {
            types.push(all[random.below(10) as usize].clone());
        }
        let distinct = [2, 10, 200][case % 3];
        let n = [0, 1, 40, 700, 3000][random.below(5) as usize];
        let nulls = random.below(3);
        let rows: Vec<Row> = (0..n)
            .map(|_| {
                let value = |data_type: &DataType| match nulls > 0 && random.below(1 + 3 * nulls) == 0 {
                    true => Value::Null,
                    false => random_value(data_type, distinct, random),
                };
                types.iter().map(value).collect()
            })
            .collect();
        let mut aggregates = Vec::new();
        for number in key_count + 1..types.len() {
            aggregates.extend(aggregates_of(number, &types[number], condition, random));
        }
        let keys: Vec<usize> = (0..key_count).collect();
        let sets: Vec<Vec<usize>> = match random.below(3) {
            0 => (0..1 + random.below(4))
                .map(|_| keys.iter().copied().filter(|_| random.below(2) == 0).collect())
                .collect(),
            _ => Vec::new(),
        };
        let key_columns: Vec<Expression> =
            keys.iter().map(|&key| Expression::column(key, types[key].clone())).collect();
        let mut first: Option<Vec<Vec<Vec<u8>>>> = None;
        for threads in 1..=4 {
            let budget = [1 << 30, 16 << 20, 3 << 20, 512 << 10][random.below(4) as usize];
            let mut shuffled = rows.clone();
            (1..n).for_each(|n| shuffled.swap(n, random.below(n as u64 + 1) as usize));
            let size = [3, 50, 1000][random.below(3) as usize];
            let batches = batches(&shuffled, &types, size, random);
            let found = rows_of(batches, (&key_columns, &sets), &aggregates, &context(threads, budget)).unwrap();
            check(&rows, &keys, &sets, &aggregates, &found);
            let bytes: Vec<_> = found.iter().map(|row| forms(row)).collect();
            assert_eq!(first.get_or_insert_with(|| bytes.clone()), &bytes, "rows differ");
        }
    }
}

/// Gives rows of two columns: a key of many values, and a number.
fn many(rows: i64, groups: i64, is_text: bool) -> Vec<Batch> {
    let all: Vec<i64> = (0..rows).collect();
    let key = |n: i64| (n * 7919) % groups;
    let batch = |part: &[i64]| {
        let keys = if is_text {
            let texts: Vec<String> = part.iter().map(|&n| format!("the key of a group {}", key(n))).collect();
            Data::Bytes(texts.iter().map(|text| text.as_bytes()).collect())
        } else {
            Data::Ints(part.iter().map(|&n| key(n)).collect())
        };
        Batch::of(vec![Vector::of(keys), Vector::of(Data::Ints(part.to_vec()))], part.len())
    };
    all.chunks(8192).map(batch).collect()
}

#[test]
fn many_groups_spill_and_come_back_in_order() {
    let rows = 600_000i64;
    for is_text in [false, true] {
        let key_type = if is_text { DataType::Utf8 } else { DataType::Int64 };
        let keys = [Expression::column(0, key_type)];
        let aggregates = [
            aggregate(AggregateFunction::Sum, Some((1, &DataType::Int64)), DataType::Int64, (false, None)),
            aggregate(AggregateFunction::Count, None, DataType::Int64, (false, None)),
        ];
        let mut first: Option<Vec<Row>> = None;
        let groups = 200_003;
        for (threads, budget) in [(1, 1 << 30), (2, 1 << 30), (2, 4 << 20), (3, 1 << 20)] {
            let context = context(threads, budget);
            let found = rows_of(many(rows, groups, is_text), (&keys, &[]), &aggregates, &context).unwrap();
            assert_eq!(found.len() as i64, groups);
            assert!(context.budget.peak_bytes() <= budget);
            match &first {
                Some(first) => assert!(*first == found, "{threads} threads, {budget} bytes"),
                None => {
                    let total: i64 = found.iter().map(|row| if let Value::Int(v) = row[1] { v } else { 0 }).sum();
                    assert_eq!(total, rows * (rows - 1) / 2);
                    assert!(found.iter().all(|row| matches!(row[2], Value::Int(2..=3))));
                    first = Some(found);
                }
            }
        }
    }
}

#[test]
fn without_rows() {
    let count = aggregate(AggregateFunction::Count, None, DataType::Int64, (false, None));
    let max = aggregate(AggregateFunction::Max, Some((0, &DataType::Int64)), DataType::Int64, (false, None));
    let all = [count, max];
    let key = [Expression::column(0, DataType::Int64)];
    let of = |keys: &[Expression], sets: &[Vec<usize>]| {
        rows_of(Vec::new(), (keys, sets), &all, &context(2, 1 << 24)).unwrap()
    };
    assert_eq!(of(&[], &[]), [[Value::Int(0), Value::Null]]);
    assert!(of(&key, &[]).is_empty());
    assert_eq!(of(&key, &[vec![0], vec![]]), [[Value::Null, Value::Int(1), Value::Int(0), Value::Null]]);
}

#[test]
fn sums_that_do_not_fit_are_errors_and_others_are_not() {
    let one = |values: Vec<i128>, data_type: DataType, function, result: DataType| {
        let batches = values.iter().map(|&v| Batch::of(vec![Vector::of(Data::Decimals(vec![v]))], 1)).collect();
        let all = [aggregate(function, Some((0, &data_type)), result, (false, None))];
        rows_of(batches, (&[], &[]), &all, &context(1, 1 << 24)).map(|rows| rows[0][0].clone())
    };
    let most = 10i128.pow(38) - 1;
    let wide = DataType::Decimal128(38, 0);
    let sum = AggregateFunction::Sum;
    // The sum fits in the end, whatever it is on the way.
    assert_eq!(one(vec![most, most, -most, 5, -most], wide.clone(), sum, wide.clone()).unwrap(), Value::Decimal(5));
    for values in [vec![most, 1], vec![most; 4], vec![-most; 7], vec![most; 5000]] {
        assert_eq!(one(values, wide.clone(), sum, wide.clone()).unwrap_err().code(), Code::UserCode);
    }
    let big = DataType::UInt64;
    let half = 1i128 << 63;
    assert_eq!(one(vec![half, half - 1], big.clone(), sum, big.clone()).unwrap(), Value::Decimal(2 * half - 1));
    assert_eq!(one(vec![half, half], big.clone(), sum, big.clone()).unwrap_err().code(), Code::UserCode);
    let average = AggregateFunction::Average;
    let means = DataType::Decimal128(38, 4);
    assert_eq!(one(vec![most, 1], wide.clone(), average, means.clone()).unwrap_err().code(), Code::UserCode);
    assert_eq!(one(vec![2, 2, 1], wide, average, means).unwrap(), Value::Decimal(16_667));
    let ints = |values: Vec<i64>| {
        let batch = Batch::of(vec![Vector::of(Data::Ints(values.clone()))], values.len());
        let all = [aggregate(sum, Some((0, &DataType::Int64)), DataType::Int64, (false, None))];
        rows_of(vec![batch], (&[], &[]), &all, &context(1, 1 << 24)).map(|rows| rows[0][0].clone())
    };
    assert_eq!(ints(vec![i64::MAX, i64::MAX, -i64::MAX, 3, -i64::MAX]).unwrap(), Value::Int(3));
    assert_eq!(ints(vec![i64::MAX, 1]).unwrap_err().code(), Code::UserCode);
    assert_eq!(ints(vec![i64::MIN, -1]).unwrap_err().code(), Code::UserCode);
}
