//! A plan whose rows are its own input: `with recursive`.
//!
//! ```text
//!   seed --> rows --+--> result
//!                   +--> step --> rows --+--> result
//!                                        +--> step --> ..   until there is no row
//! ```
//!
//! Each round runs the step as a plan of its own, in which a table in memory stands for the rows of the round before.
//! Limitation: the result, the rows of a round, and for `union` all different rows are kept in memory. A query that
//! never ends is an error once they exceed the budget, unless a limit ends it.

use std::collections::HashSet;
use std::sync::Arc;

use yunti_base::{Code, Error, Result};
use yunti_engine::columns::normal;
use yunti_engine::memory::{Budget, Grant};
use yunti_sql_plan::{Batch, MorselReader, Node, Recursive, Scan, Table};

use super::scalars::change_plans;
use crate::context::Context;
use crate::pipeline::rows::Batches;
use crate::pipeline::{Pipeline, Source};
use crate::store::held::Held;

/// Bytes of an entry of a set beside its key, about.
const ENTRY_BYTES: u64 = 48;

/// Function that runs a plan into a function, in order.
pub type RunPlan = dyn Fn(&Node, &Context, &mut (dyn FnMut(Batch) -> Result<()> + Send)) -> Result<()>;

/// Returns the rows of a recursive plan as a pipeline; `run` runs the plan of a round.
///
/// Errors: those of its parts; `Memory` if its rows do not fit.
pub fn run(of: &Recursive, context: &Context, run: &RunPlan) -> Result<Pipeline> {
    let budget = context.budget.part(context.budget.free_bytes() / 2);
    let mut result = Held::new(&budget);
    let mut known = of.distinct.then(|| Known { rows: HashSet::new(), grant: None, budget: budget.clone() });
    let mut plan = (*of.seed).clone();
    let limit = of.limit.unwrap_or(usize::MAX);
    while result.rows < limit {
        context.check()?;
        let mut round = Held::new(&budget);
        run(&plan, context, &mut |batch| {
            let batch = match &mut known {
                Some(known) => known.new_rows(&batch)?,
                None => batch,
            };
            if batch.rows > 0 {
                hold(&mut result, batch.clone())?;
                hold(&mut round, batch)?;
            }
            Ok(())
        })?;
        if round.rows == 0 {
            break;
        }
        plan = (*of.step).clone();
        let table = round.into_table(&of.name, &of.seed.types());
        put_rows(&mut plan, &of.name, &table)?;
    }
    let source = Rows { batches: Batches::of(result.batches), _grant: result.grant };
    Ok(Pipeline::of(Arc::new(source)))
}

/// Puts a table in the places of the rows of a recursive plan.
fn put_rows(plan: &mut Node, name: &str, table: &Arc<Table>) -> Result<()> {
    if matches!(plan, Node::Work { name: own, .. } if own == name) {
        let columns = (0..table.fields.len()).collect();
        *plan = Node::Scan(Scan { table: table.clone(), columns, conditions: Vec::new(), limit: None });
    }
    for of in plan.expressions_mut() {
        change_plans(of, &mut |plan| put_rows(plan, name, table))?;
    }
    plan.inputs_mut().into_iter().try_for_each(|input| put_rows(input, name, table))?;
    // One of the same name has rows of its own.
    if let Node::Recursive(within) = plan
        && within.name != name
    {
        put_rows(&mut within.step, name, table)?;
    }
    Ok(())
}

fn hold(rows: &mut Held, batch: Batch) -> Result<()> {
    rows.push(batch).map_err(|bytes| too_large(&rows.budget, bytes, rows.rows))
}

fn too_large(budget: &Arc<Budget>, bytes: u64, rows: usize) -> Error {
    let error = budget.too_small(bytes, "a recursive query");
    Error::new(Code::Memory, format!("{error}: it has made {rows} rows, and may not end without a limit"))
}

/// All rows of a recursive plan, which hold their memory until they are read.
struct Rows {
    batches: Arc<Batches>,
    _grant: Option<Grant>,
}

impl Source for Rows {
    fn morsels(&self) -> Result<usize> {
        self.batches.morsels()
    }

    fn open(&self, morsel: usize) -> Result<Box<dyn MorselReader>> {
        self.batches.open(morsel)
    }
}

/// Different rows so far, in normal form.
struct Known {
    rows: HashSet<Box<[u8]>>,
    grant: Option<Grant>,
    budget: Arc<Budget>,
}

impl Known {
    /// Returns the rows that were not known, and keeps them.
    fn new_rows(&mut self, batch: &Batch) -> Result<Batch> {
        let mut new = Vec::new();
        let mut key = Vec::new();
        let mut bytes = 0;
        for row in 0..batch.rows {
            key.clear();
            batch.columns.iter().for_each(|column| normal::put(column.cell(row), &mut key));
            if !self.rows.contains(&key[..]) {
                bytes += key.len() as u64 + ENTRY_BYTES;
                self.rows.insert(key[..].into());
                new.push(row as u32);
            }
        }
        if bytes > 0 && !self.budget.try_add(&mut self.grant, bytes) {
            return Err(too_large(&self.budget, bytes, self.rows.len()));
        }
        Ok(if new.len() == batch.rows { batch.clone() } else { batch.select(&new) })
    }
}
