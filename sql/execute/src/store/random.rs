//! Random rows of all types and shapes, for tests.

use std::sync::Arc;

use arrow_schema::DataType;
use yunti_base::{Cancel, Result};
use yunti_engine::columns::vector::{Bytes, Data, Value, Vector};
use yunti_engine::env::Env;
use yunti_engine::env::random::Random;
use yunti_engine::memory::Budget;
use yunti_sql_plan::{Batch, Expression, Operation};

use crate::context::Context;
use crate::pipeline::Pipeline;
use crate::pipeline::output::Ordered;
use crate::pipeline::rows::Batches;

pub type Row = Vec<Value>;

/// Returns a context of some threads and bytes.
pub fn context(threads: usize, bytes: u64) -> Context {
    Context::new(Env::real(), Budget::new(bytes), threads, Cancel::default())
}

/// Returns a column as an expression.
pub fn column(number: usize, data_type: &DataType) -> Expression {
    Expression { data_type: data_type.clone(), operation: Operation::Column(number) }
}

pub fn below(random: &mut Random, n: usize) -> usize {
    (random.next_u64() % n.max(1) as u64) as usize
}

/// Returns types that exercise all shapes.
pub fn all_types() -> [DataType; 7] {
    [
        DataType::Int64,
        DataType::Float64,
        DataType::Decimal128(38, 2),
        DataType::Utf8,
        DataType::Boolean,
        DataType::Date32,
        DataType::Decimal128(12, 2),
    ]
}

/// Returns one of about `distinct` values of a type, or null.
pub fn value(random: &mut Random, data_type: &DataType, distinct: usize, null_percent: usize) -> Value {
    if below(random, 100) < null_percent {
        return Value::Null;
    }
    let n = below(random, distinct) as i64;
    match data_type {
        DataType::Int64 => Value::Int(if distinct > 50 && n % 3 == 0 { n * 1_000_003_000_017 } else { n - 3 }),
        DataType::Date32 => Value::Int(n),
        DataType::Float64 => match n {
            0 => Value::Float(if below(random, 2) == 0 { 0.0 } else { -0.0 }),
            1 => Value::Float(if below(random, 2) == 0 { f64::NAN } else { -f64::NAN }),
            n => Value::Float(n as f64 / 2.0 - 3.0),
        },
        DataType::Decimal128(38, _) if n % 5 == 0 => Value::Decimal((i128::from(n) + 7) << 70),
        DataType::Decimal128(..) => Value::Decimal(i128::from(n) - 4),
        DataType::Boolean => Value::Bool(n % 2 == 0),
        _ => Value::Bytes(match n % 4 {
            0 => format!("{n}").into_bytes(),
            1 => format!("a longer text, of more than sixteen bytes: {n}").into_bytes(),
            2 => vec![0; n as usize % 9],
            _ => format!("eight bytes, {n}").into_bytes(),
        }),
    }
}

/// Returns random rows.
pub fn rows(random: &mut Random, types: &[DataType], n: usize, distinct: usize, null_percent: usize) -> Vec<Row> {
    (0..n).map(|_| types.iter().map(|of| value(random, of, distinct, null_percent)).collect()).collect()
}

/// Returns values as a vector of a random shape.
pub fn vector<'v>(random: &mut Random, data_type: &DataType, values: impl Iterator<Item = &'v Value>) -> Vector {
    let values: Vec<&Value> = values.collect();
    let some: Vec<bool> = values.iter().map(|value| **value == Value::Null).collect();
    let nulls = (some.contains(&true) || below(random, 4) == 0).then_some(some);
    let data = match data_type {
        DataType::Boolean => Data::Bools(values.iter().map(|v| matches!(v, Value::Bool(true))).collect()),
        DataType::Float64 => {
            Data::Floats(values.iter().map(|v| if let Value::Float(v) = v { *v } else { 7.5 }).collect())
        }
        DataType::Int64 | DataType::Date32 => {
            Data::Ints(values.iter().map(|v| if let Value::Int(v) = v { *v } else { 1 }).collect())
        }
        DataType::Decimal128(..) => {
            let all: Vec<i128> = values.iter().map(|v| if let Value::Decimal(v) = v { *v } else { 2 }).collect();
            match all.iter().map(|&v| i64::try_from(v).ok()).collect::<Option<Vec<i64>>>() {
                Some(small) if below(random, 3) > 0 => Data::SmallDecimals(small),
                _ => Data::Decimals(all),
            }
        }
        _ => Data::Bytes(values.iter().map(|v| if let Value::Bytes(v) = v { &v[..] } else { b"?" }).collect::<Bytes>()),
    };
    let data = if below(random, 2) == 0 { data } else { coded(random, data) };
    Vector { data, nulls }
}

/// Returns values as codes of a dictionary in random order, in which values may stand twice.
fn coded(random: &mut Random, data: Data) -> Data {
    let mut order: Vec<u32> = (0..data.len() as u32).collect();
    for n in (1..order.len()).rev() {
        order.swap(n, below(random, n + 1));
    }
    let mut codes = vec![0; order.len()];
    order.iter().enumerate().for_each(|(code, &row)| codes[row as usize] = code as u32);
    match data.select(&order) {
        Data::Bytes(values) => Data::Codes(codes, Arc::new(values)),
        values => Data::NumberCodes(codes, Arc::new(values)),
    }
}

/// Returns rows as a pipeline of batches of up to `most` rows.
pub fn pipeline(random: &mut Random, types: &[DataType], rows: &[Row], most: usize) -> Pipeline {
    let mut batches = Vec::new();
    let mut rest = rows;
    while !rest.is_empty() {
        let (now, behind) = rest.split_at((1 + below(random, most)).min(rest.len()));
        let columns =
            types.iter().enumerate().map(|(n, of)| vector(random, of, now.iter().map(|row| &row[n]))).collect();
        batches.push(Batch::of(columns, now.len()));
        rest = behind;
    }
    Pipeline::of(Batches::of(batches))
}

/// Runs a pipeline; returns its rows in order, as text.
pub fn run(pipeline: &Pipeline, context: &Context) -> Result<Vec<String>> {
    let mut all = Vec::new();
    let mut out = |batch: Batch| {
        assert!(batch.rows > 0 && batch.columns.iter().all(|column| column.len() == batch.rows));
        for row in 0..batch.rows {
            all.push(text(&batch.columns.iter().map(|column| column.value(row)).collect()));
        }
        Ok(())
    };
    pipeline.run(&Ordered::new(&mut out, (0, None), context.threads), context)?;
    Ok(all)
}

pub fn text(row: &Row) -> String {
    format!("{row:?}")
}
