//! Segments of conditions and projections: the same rows, or an error where kernels have one.

use std::sync::atomic::Ordering;

use yunti_base::{Cancel, Result};
use yunti_engine::columns::vector::Value;
use yunti_engine::env::Env;
use yunti_engine::memory::Budget;
use yunti_sql_execute::Context;
use yunti_sql_plan::{Batch, Expression, Node};

use arrow_schema::DataType;

use super::random::{self, Random, types};
use super::{compilation, for_seeds};

/// Returns all rows of a plan.
pub fn rows_of(plan: &Node, context: &Context) -> Result<Vec<Vec<Value>>> {
    let mut rows = Vec::new();
    yunti_sql_execute::run(plan, context, &mut |batch| {
        rows.extend((0..batch.rows).map(|row| batch.columns.iter().map(|column| column.value(row)).collect()));
        Ok(())
    })?;
    Ok(rows)
}

pub fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Float(a), Value::Float(b)) => a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan()),
        (a, b) => a == b,
    }
}

/// Returns a table of batches, each of them a morsel.
pub fn table(batches: Vec<Batch>, types: Vec<DataType>) -> Node {
    use std::sync::Arc;

    use yunti_sql_plan::{Bounds, Field, Morsel, MorselReader, Scan, Statistics, Table, TableSource};

    #[derive(Debug)]
    struct Batches(Vec<Batch>);
    struct Once(Option<Batch>);
    impl MorselReader for Once {
        fn next(&mut self) -> Result<Option<Batch>> {
            Ok(self.0.take())
        }
    }
    impl TableSource for Batches {
        fn morsels(&self, _: &[usize], _: &[Bounds]) -> Result<Vec<Morsel>> {
            let morsel =
                |(n, batch): (usize, &Batch)| Morsel { file: 0, unit: n as u64, rows: batch.rows as u64, bytes: 0 };
            Ok(self.0.iter().enumerate().map(morsel).collect())
        }
        fn open(&self, morsel: &Morsel, columns: &[usize], _: &[Bounds]) -> Result<Box<dyn MorselReader>> {
            Ok(Box::new(Once(Some(self.0[morsel.unit as usize].project(columns)))))
        }
    }
    let fields = types.iter().map(|of| Field { name: "c".into(), data_type: of.clone(), nullable: true }).collect();
    let columns = (0..types.len()).collect();
    let source = Arc::new(Batches(batches));
    let table = Arc::new(Table { name: "t".into(), fields, statistics: Statistics::default(), source });
    Node::Scan(Scan { table, columns, conditions: Vec::new(), limit: None })
}

pub fn context(threads: usize) -> Context {
    Context::new(Env::real(), Budget::new(256 << 20), threads, Cancel::default())
}

/// Returns the rows of a plan by kernels and by code, which must be the same. Returns true if code took a row.
pub fn check(plan: &Node, shown: impl Fn() -> String) -> bool {
    let kernels = context(1);
    let mut compiled = context(1);
    compiled.compilation = Some(compilation());
    let (expect, found) = (rows_of(plan, &kernels), rows_of(plan, &compiled));
    match (&expect, &found) {
        (Ok(expect), Ok(found)) => {
            assert_eq!(found.len(), expect.len(), "{}", shown());
            for (row, (expect, found)) in expect.iter().zip(found).enumerate() {
                let are_same = expect.iter().zip(found).all(|(a, b)| same(a, b));
                assert!(are_same, "{}\nrow {row}: {found:?}, not {expect:?}", shown());
            }
        }
        (Err(expect), Err(found)) => assert_eq!(found.to_string(), expect.to_string(), "{}", shown()),
        (Ok(_), Err(error)) => panic!("{}: {error}", shown()),
        (Err(error), Ok(_)) => panic!("{}: not the error {error}", shown()),
    }
    let counts = compiled.compilation.unwrap().counts;
    counts.code_rows.load(Ordering::Relaxed) > 0
}

/// Returns stages over a table.
pub fn stages(random: &mut Random, mut plan: Node, levels: usize) -> Node {
    let mut of: Vec<DataType> = types();
    for _ in 0..1 + random.below(3) {
        let columns = of.len() == types().len();
        plan = match random.below(3) {
            0 if columns => {
                let condition = random::expression(random, &DataType::Boolean, levels);
                Node::Filter { input: Box::new(plan), condition }
            }
            _ if columns => {
                // All columns stay, so that the next stage finds them, and some are computed.
                let mut all: Vec<Expression> =
                    of.iter().enumerate().map(|(n, of)| Expression::column(n, of.clone())).collect();
                for (n, of) in of.iter().enumerate() {
                    if random.one_in(5) {
                        all[n] = random::expression(random, of, levels);
                    }
                }
                Node::Project { input: Box::new(plan), expressions: all }
            }
            _ => plan,
        };
        of = plan.types();
    }
    plan
}

#[test]
fn code_gives_what_kernels_give() {
    let taken = std::cell::Cell::new(0u64);
    let all = std::cell::Cell::new(0u64);
    for_seeds(400, |seed| {
        let mut random = Random(seed);
        let levels = 1 + random.below(3);
        let batches = (0..1 + random.below(3)).map(|_| random::batch(&mut random)).collect();
        let plan = stages(&mut random, table(batches, types()), levels);
        let shown = || format!("YUNTI_SEED={seed}: {plan}");
        taken.set(taken.get() + u64::from(check(&plan, shown)));
        all.set(all.get() + 1);
    });
    // A test of kernels against themselves is none.
    assert!(all.get() < 100 || taken.get() * 4 > all.get(), "code took {} of {} plans", taken.get(), all.get());
}
