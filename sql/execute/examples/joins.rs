//! Times joins and sorts on one worker: nanoseconds of processor time a row.
//!
//! ```sh
//! cargo run --release -p yunti-sql-execute --example joins [NAME..]
//! ```

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use arrow_schema::DataType;
use yunti_base::{Cancel, Result};
use yunti_engine::columns::vector::{Data, Vector};
use yunti_engine::env::Env;
use yunti_engine::memory::Budget;
use yunti_sql_execute::Context;
use yunti_sql_execute::operators::{join, sort};
use yunti_sql_execute::pipeline::{LocalSink, Pipeline, Sink, Source};
use yunti_sql_plan::{Batch, Expression, Join, JoinKind, MorselReader, Node, Operation, SortKey};

const BATCH_ROWS: usize = 8192;

/// Rows that are made when they are read: `make(first, rows)`.
struct Made {
    rows: usize,
    batches: Vec<Batch>,
}

impl Source for Made {
    fn morsels(&self) -> Result<usize> {
        Ok(1)
    }

    fn open(&self, _: usize) -> Result<Box<dyn MorselReader>> {
        Ok(Box::new(Reader { batches: self.batches.clone(), next: 0, left: self.rows }))
    }
}

struct Reader {
    batches: Vec<Batch>,
    next: usize,
    left: usize,
}

impl MorselReader for Reader {
    fn next(&mut self) -> Result<Option<Batch>> {
        if self.left == 0 {
            return Ok(None);
        }
        let batch = self.batches[self.next % self.batches.len()].clone();
        self.next += 1;
        self.left = self.left.saturating_sub(batch.rows);
        Ok(Some(batch))
    }
}

#[derive(Default)]
struct Count(AtomicUsize);

impl Sink for Count {
    fn local<'s>(&'s self) -> Result<Box<dyn LocalSink + 's>> {
        Ok(Box::new(LocalCount(self, 0)))
    }
}

struct LocalCount<'s>(&'s Count, usize);

impl LocalSink for LocalCount<'_> {
    fn push(&mut self, _: usize, batch: Batch) -> Result<()> {
        self.1 += std::hint::black_box(&batch).rows;
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<()> {
        self.0.0.fetch_add(self.1, Ordering::Relaxed);
        Ok(())
    }
}

/// Returns nanoseconds of processor time of this thread.
fn cpu_ns() -> u64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    text.split(' ').next().and_then(|ns| ns.parse().ok()).unwrap_or(0)
}

fn mixed(n: u64) -> u64 {
    let n = (n ^ n >> 31).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (n ^ n >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9) ^ n >> 32
}

/// Returns batches of two columns: `key(n)` and n.
fn made(rows: usize, repeat: usize, key: impl Fn(u64) -> i64) -> Pipeline {
    let mut batches = Vec::new();
    let all: Vec<i64> = (0..rows as u64).map(key).collect();
    for (n, part) in all.chunks(BATCH_ROWS).enumerate() {
        let numbers = (0..part.len()).map(|row| (n * BATCH_ROWS + row) as i64).collect();
        let columns = vec![Vector::of(Data::Ints(part.to_vec())), Vector::of(Data::Ints(numbers))];
        batches.push(Batch::of(columns, part.len()));
    }
    Pipeline::of(Arc::new(Made { rows: rows * repeat, batches }))
}

fn context() -> Context {
    Context::new(Env::real(), Budget::new(16 << 30), 1, Cancel::default())
}

fn column(n: usize) -> Expression {
    Expression { data_type: DataType::Int64, operation: Operation::Column(n) }
}

fn join_case(name: &str, build_rows: usize, kind: JoinKind, build: &dyn Fn(u64) -> i64, probe: &dyn Fn(u64) -> i64) {
    let context = context();
    let values = || Box::new(Node::Values { types: vec![DataType::Int64; 2], rows: Vec::new() });
    let join = Join {
        left: values(),
        right: values(),
        kind,
        keys: vec![(column(0), column(0))],
        nulls_equal: false,
        condition: None,
        build_left: true,
    };
    let (build, probe) = (made(build_rows, 1, build), made(4_000_000, 2, probe));
    let mut best = (u64::MAX, u64::MAX, 0);
    for _ in 0..3 {
        let start = cpu_ns();
        let pipeline = join::run(&build, (&join, None), |_| Ok(probe.clone()), &context).unwrap();
        let built = cpu_ns();
        let count = Count::default();
        pipeline.run(&count, &context).unwrap();
        let end = cpu_ns();
        best = (best.0.min(built - start), best.1.min(end - built), count.0.load(Ordering::Relaxed));
    }
    let (build, probe) = (best.0 as f64 / build_rows as f64, best.1 as f64 / 8e6);
    println!("{name:40} build {build:6.1} ns a row   probe {probe:6.2} ns a row   {} rows", best.2);
}

fn sort_case(name: &str, rows: usize, repeat: usize, limit: Option<usize>, key: &dyn Fn(u64) -> i64) {
    let context = context();
    let input = made(rows, repeat, key);
    let keys = [SortKey { value: column(0), descending: true, nulls_first: false }];
    let mut best = u64::MAX;
    let mut given = 0;
    for _ in 0..3 {
        let start = cpu_ns();
        let pipeline = sort::run(&input, &keys, limit, &context).unwrap();
        let count = Count::default();
        pipeline.run(&count, &context).unwrap();
        best = best.min(cpu_ns() - start);
        given = count.0.load(Ordering::Relaxed);
    }
    println!("{name:40} {:6.2} ns a row   {given} rows", best as f64 / (rows * repeat) as f64);
}

fn main() {
    let wanted: Vec<String> = std::env::args().skip(1).collect();
    let is_wanted = |name: &str| wanted.is_empty() || wanted.iter().any(|of| name.contains(&of[..]));
    for (rows, size) in [(1_500_000usize, "1.5M"), (15_000_000, "15M")] {
        let spread = |n: u64| mixed(n) as i64;
        let order = |n: u64| n as i64;
        let sparse = |n: u64| (n * 4) as i64;
        for (hits, share) in [(100u64, "100 %"), (10, "10 %")] {
            for (form, key) in [("in order", &order as &dyn Fn(u64) -> i64), ("dense", &sparse), ("hash", &spread)] {
                let name = format!("{form} {size}, {share} hits");
                if !is_wanted(&name) {
                    continue;
                }
                let probe = |n: u64| {
                    let n = mixed(n ^ 77);
                    let row = n % rows as u64;
                    match (n >> 40) % 100 < hits {
                        true => key(row),
                        false if form == "hash" => mixed(row + (1 << 40)) as i64,
                        false if form == "dense" => key(row) + 1,
                        false => -1 - row as i64,
                    }
                };
                join_case(&name, rows, JoinKind::Inner, key, &probe);
            }
        }
    }
    for (name, rows, repeat, limit) in [
        ("sort 4M", 4_000_000, 1, None),
        ("top 10 of 60M", 6_000_000, 10, Some(10)),
        ("top 1000 of 60M", 6_000_000, 10, Some(1000)),
    ] {
        if is_wanted(name) {
            sort_case(name, rows, repeat, limit, &|n| mixed(n) as i64);
        }
    }
}
