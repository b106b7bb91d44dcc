//! Times aggregates on one and two workers: nanoseconds of processor time a row, with the sources' own.
//!
//! ```sh
//! BUDGET_MIB=512 cargo run --release -p yunti-sql-execute --example aggregates [NAME..]
//! ```

use std::sync::Arc;

use arrow_schema::DataType;
use yunti_base::{Cancel, Result};
use yunti_engine::columns::grouping::mix;
use yunti_engine::columns::vector::{Bytes, Data, Vector};
use yunti_engine::env::Env;
use yunti_engine::memory::Budget;
use yunti_sql_execute::Context;
use yunti_sql_execute::operators::aggregate;
use yunti_sql_execute::pipeline::output::Ordered;
use yunti_sql_execute::pipeline::{Pipeline, Source};
use yunti_sql_plan::{Aggregate, AggregateFunction, Batch, Expression, MorselReader};

const BATCH: usize = 8192;

/// Batches that are made when they are read.
struct Made {
    batches: usize,
    make: Arc<dyn Fn(usize) -> Batch + Send + Sync>,
}

struct Reader(Arc<dyn Fn(usize) -> Batch + Send + Sync>, std::ops::Range<usize>);

impl Source for Made {
    fn morsels(&self) -> Result<usize> {
        Ok(self.batches.div_ceil(64))
    }

    fn open(&self, morsel: usize) -> Result<Box<dyn MorselReader>> {
        Ok(Box::new(Reader(self.make.clone(), morsel * 64..((morsel + 1) * 64).min(self.batches))))
    }
}

impl MorselReader for Reader {
    fn next(&mut self) -> Result<Option<Batch>> {
        Ok(self.1.next().map(|number| (self.0)(number)))
    }
}

fn cpu_ms() -> f64 {
    let text = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<f64> = text.rsplit(')').next().unwrap_or("").split(' ').map(|n| n.parse().unwrap_or(0.0)).collect();
    (fields[12] + fields[13]) * 10.0
}

fn measure(
    name: &str,
    batches: usize,
    (keys, all): (&[Expression], &[Aggregate]),
    make: Arc<dyn Fn(usize) -> Batch + Send + Sync>,
) {
    let mib = std::env::var("BUDGET_MIB").ok().and_then(|n| n.parse().ok()).unwrap_or(16u64 << 10);
    for threads in [1, 2] {
        let context = Context::new(Env::real(), Budget::new(mib << 20), threads, Cancel::default());
        let (cpu, wall) = (cpu_ms(), std::time::Instant::now());
        let input = Pipeline::of(Arc::new(Made { batches, make: make.clone() }));
        let pipeline = aggregate::run((&input, &[]), None, (keys, &[]), all, &context).unwrap();
        let (groups, middle) = (std::sync::atomic::AtomicUsize::new(0), cpu_ms());
        let mut out = |batch: Batch| {
            groups.fetch_add(batch.rows, std::sync::atomic::Ordering::Relaxed);
            Ok(())
        };
        pipeline.run(&Ordered::new(&mut out, (0, None), threads), &context).unwrap();
        let rows = (batches * BATCH) as f64;
        println!(
            "{name}, {threads} threads: {:.1} ns a row ({:.1} to read groups), {} ms of wall, {} groups, peak {} MiB",
            (cpu_ms() - cpu) * 1e6 / rows,
            (cpu_ms() - middle) * 1e6 / rows,
            wall.elapsed().as_millis(),
            groups.into_inner(),
            context.budget.peak_bytes() >> 20,
        );
    }
}

fn call(function: AggregateFunction, argument: Option<usize>, of: &DataType, data_type: DataType) -> Aggregate {
    let argument = argument.map(|number| Expression::column(number, of.clone()));
    Aggregate { function, argument, distinct: false, condition: None, data_type, foreign: None }
}

fn main() {
    use AggregateFunction::{Average, Count, Sum};
    let wanted: Vec<String> = std::env::args().skip(1).collect();
    let is_wanted = |name: &str| wanted.is_empty() || wanted.iter().any(|of| name.contains(&of[..]));
    let decimal = DataType::Decimal128(15, 2);
    if is_wanted("q1") {
        let flags: Arc<Bytes> = Arc::new([&b"A"[..], b"N", b"R"].into_iter().collect());
        let status: Arc<Bytes> = Arc::new([&b"F"[..], b"O"].into_iter().collect());
        let batches: Vec<Batch> = (0..32u64)
            .map(|batch| {
                let random = |n: usize, salt: u64| mix(batch << 32 | (n as u64) << 4 | salt);
                let decimals = |salt: u64, most: u64| {
                    Vector::of(Data::SmallDecimals((0..BATCH).map(|n| (random(n, salt) % most) as i64).collect()))
                };
                let codes = |salt: u64, most: u64| (0..BATCH).map(|n| (random(n, salt) % most) as u32).collect();
                Batch::of(
                    vec![
                        Vector::of(Data::Codes(codes(1, 3), flags.clone())),
                        Vector::of(Data::Codes(codes(2, 2), status.clone())),
                        decimals(3, 5000),
                        decimals(4, 10_000_000),
                        decimals(5, 1_000_000_000),
                        decimals(6, 100_000_000_000),
                        decimals(7, 10),
                    ],
                    BATCH,
                )
            })
            .collect();
        let keys = [Expression::column(0, DataType::Utf8), Expression::column(1, DataType::Utf8)];
        let sum = |n: usize| call(Sum, Some(n), &decimal, DataType::Decimal128(25, 2));
        let mean = |n: usize| call(Average, Some(n), &decimal, DataType::Decimal128(19, 6));
        let count = call(Count, None, &decimal, DataType::Int64);
        let all = [sum(2), sum(3), sum(4), sum(5), mean(2), mean(3), mean(6), count];
        measure("q1", 4000, (&keys, &all), Arc::new(move |n| batches[n % batches.len()].clone()));
    }
    let key = [Expression::column(0, DataType::Int64)];
    let sum = [call(Sum, Some(1), &decimal, DataType::Decimal128(25, 2))];
    let quantity = Vector::of(Data::SmallDecimals((0..BATCH).map(|n| n as i64 % 50).collect()));
    let quantity = Arc::new(quantity);
    let numbers = move |rows: usize, of: fn(u64, u64) -> u64, groups: u64| {
        let quantity = quantity.clone();
        let make = move |batch: usize| {
            let keys = (0..BATCH).map(|n| of((batch * BATCH + n) as u64, groups) as i64).collect();
            Batch { columns: vec![Arc::new(Vector::of(Data::Ints(keys))), quantity.clone()], rows: BATCH }
        };
        (rows / BATCH, Arc::new(make) as Arc<dyn Fn(usize) -> Batch + Send + Sync>)
    };
    for (name, rows, groups, of) in [
        ("in order 1.5M", 6_000_000, 1_500_000, (|n, _| n / 32 * 128 + n % 32 / 4) as fn(u64, u64) -> u64),
        ("in order 15M", 60_000_000, 15_000_000, |n, _| n / 32 * 128 + n % 32 / 4),
        ("random 1.5M", 12_000_000, 1_500_000, |n, groups| (u128::from(mix(n)) * u128::from(groups) >> 64) as u64),
        ("random 15M", 30_000_000, 15_000_000, |n, groups| (u128::from(mix(n)) * u128::from(groups) >> 64) as u64),
    ] {
        if is_wanted(name) {
            let (batches, make) = numbers(rows, of, groups);
            measure(name, batches, (&key, &sum), make);
        }
    }
    if is_wanted("text 1M") {
        let texts: Vec<Batch> = (0..500u64)
            .map(|batch| {
                let text = |n: usize| format!("http://example.org/{}", mix(batch << 20 | n as u64) % 1_000_000);
                let texts: Vec<String> = (0..BATCH).map(text).collect();
                Batch::of(vec![Vector::of(Data::Bytes(texts.iter().map(|text| text.as_bytes()).collect()))], BATCH)
            })
            .collect();
        let count = [call(Count, None, &decimal, DataType::Int64)];
        let key = [Expression::column(0, DataType::Utf8)];
        measure("text 1M", 1000, (&key, &count), Arc::new(move |n| texts[n % texts.len()].clone()));
    }
}
