//! Joins: rows of one side in a table, and rows of the other side that look into it.
//!
//! ```text
//!   build side --> kept rows, table                                 then: rows of the table that nothing matched
//!                      |                                                             |
//!   probe side --> look-up, pairs, condition --> output batches -------------------> +
//! ```
//!
//! Rows come in the order of the probe side; partners of a row in the order of the build side; rows of the table behind
//! them, in the order of the build side. So the order depends on the inputs alone, whatever the threads.
//!
//! A table that does not fit in memory: rows of both sides are split into partitions by the hash of their keys, and
//! partitions of the build side leave memory one by one. Rows of the probe side that belong to them wait in the spill
//! file until all others have passed; then the partitions are joined one by one. The join gives the same rows, but not
//! in the same order: it depends on which partitions left. The order of an output without `order by` is not kept here,
//! because all output would be written once more to restore it; aggregates and sorts do not depend on it.
//!
//! If one side is a table with an index, its rows are looked up there (`lookup.rs`), and no table is built.

mod build;
pub(crate) mod hash_table;
pub mod keys;
mod lookup;
mod number_table;
mod pairs;
mod partition;
mod probe;
mod rest;
mod shape;
mod spilled;
mod table;

#[cfg(test)]
pub mod tests;

use std::sync::{Arc, Mutex};

use yunti_base::{Code, Error, Result};
use yunti_sql_plan::Join;
use yunti_sql_plan::lookup as plan;

use crate::context::Context;
use crate::key_filter::set::KeySet;
use crate::pipeline::Pipeline;
use crate::spill::Spill;
use crate::store::Rows;
use build::Build;
use probe::{Left, Probe};
use rest::Rest;
use shape::Shape;
use table::Table;

/// Values of a key of the table by its number; None if rows of the other side may be wanted without a partner.
pub type KeySets<'f> = dyn Fn(usize) -> Option<Arc<KeySet>> + 'f;

/// Runs the rows of the side that the table is built of, then adds the look-up to the pipeline of the other side, which
/// `probe` makes; it may pass over rows outside the sets of keys. Returns the rows of the join: their
/// columns `wanted`, by their numbers in ascending order, or all.
pub fn run(
    build: &Pipeline,
    (join, wanted): (&Join, Option<&[usize]>),
    probe: impl FnOnce(&KeySets<'_>) -> Result<Pipeline>,
    context: &Context,
) -> Result<Pipeline> {
    let shape = Arc::new(Shape { cancel: context.cancel.clone(), ..Shape::of(join, wanted)? });
    // Half of what is free: operators above, and those of the probe side, need memory too.
    let budget = context.budget.part(context.budget.free_bytes() / 2);
    let spill = Spill::new(&context.env);
    let sink = Build::new(&shape, &budget, &spill, context.threads);
    build.run(&sink, context)?;
    let built = sink.into_built()?;
    let rows = Rows::of(built.batches, &shape.kept_kinds, context.threads)?;
    if rows.is_empty() && built.left.is_empty() && shape.is_empty_without_build() {
        return Ok(Pipeline { branches: Vec::new() });
    }
    let keys = (&shape.key_places[..], shape.nulls_equal);
    let threads = context.threads;
    let table = Table::build(rows, keys, shape.marks_build(), threads, built.grant, built.dictionary_bytes);
    let table = Arc::new(Mutex::new(Some(Arc::new(table))));
    let left = (!built.left.is_empty()).then(|| Arc::new(Left::new(built.left, &spill, &budget, threads)));
    // Partitions that left memory have keys too; and rows without a partner may be wanted.
    let tells_keys = left.is_none() && shape.is_empty_without_build() && !shape.nulls_equal;
    let keys = table_of(&table)?;
    let key_set = |n: usize| {
        let place = *shape.key_places.get(n).filter(|_| tells_keys)?;
        KeySet::of(keys.rows.column(place), &context.budget).map(Arc::new)
    };
    let mut pipeline = probe(&key_set)?;
    drop(keys);
    pipeline.push(Arc::new(Probe { shape: shape.clone(), table: table.clone(), left: left.clone() }));
    if shape.marks_build() {
        pipeline.then(Arc::new(Rest { shape: shape.clone(), table: table.clone() }));
    }
    if let Some(left) = left {
        pipeline.branches.push(spilled::branch(shape, table, left, context));
    }
    Ok(pipeline)
}

/// Adds the look-up in a table with an index to the pipeline of the other side. Columns `wanted` as in `run`.
pub fn look_up(
    probe: &mut Pipeline,
    (of, wanted): (&plan::Lookup<'_>, Option<&[usize]>),
    context: &Context,
) -> Result<()> {
    let shape = Shape { cancel: context.cancel.clone(), ..Shape::of(&of.join, wanted)? };
    probe.push(Arc::new(lookup::LookUp::new(Arc::new(shape), of)));
    Ok(())
}

/// Table of the rows in memory. Its memory is given back before rows of the spill file are read.
type TableSlot = Arc<Mutex<Option<Arc<Table>>>>;

/// Returns the table. Errors: `Internal` if it is gone.
fn table_of(slot: &TableSlot) -> Result<Arc<Table>> {
    let table = slot.lock().unwrap_or_else(|e| e.into_inner()).clone();
    table.ok_or_else(|| Error::new(Code::Internal, "rows look into the table of a join that has ended"))
}
