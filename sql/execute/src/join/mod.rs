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

mod build;
pub(crate) mod hash_table;
mod keys;
mod number_table;
mod pairs;
mod probe;
mod rest;
mod shape;
mod table;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use yunti_base::Result;
use yunti_sql_plan::Join;

use crate::context::Context;
use crate::pipeline::Pipeline;
use crate::store::Rows;
use build::Build;
use probe::Probe;
use rest::Rest;
use shape::Shape;
use table::Table;

/// Runs the rows of the side that the table is built of, then adds the look-up to the pipeline of the other side, which
/// `probe` makes. Returns the rows of the join.
pub fn run(
    build: &Pipeline,
    join: &Join,
    probe: impl FnOnce() -> Result<Pipeline>,
    context: &Context,
) -> Result<Pipeline> {
    let shape = Arc::new(Shape::of(join)?);
    let sink = Build::new(&shape, &context.budget);
    build.run(&sink, context)?;
    let (batches, grant) = sink.into_batches();
    let rows = Rows::of(batches, &shape.kept_kinds)?;
    if rows.is_empty() && shape.is_empty_without_build() {
        return Ok(Pipeline { branches: Vec::new() });
    }
    let keys = (&shape.key_places[..], shape.nulls_equal);
    let table = Arc::new(Table::build(rows, keys, shape.marks_build(), context.threads, grant));
    let mut pipeline = probe()?;
    pipeline.push(Arc::new(Probe { shape: shape.clone(), table: table.clone() }));
    if shape.marks_build() {
        pipeline.then(Arc::new(Rest { shape, table }));
    }
    Ok(pipeline)
}
