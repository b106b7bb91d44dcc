//! Rows in order, and the first of them.
//!
//! ```text
//!   rows --> collect: rows behind the threshold leave at once --> buckets by the first key --> sorted when read
//! ```
//!
//! Rows that are equal in all keys are in the order of all their columns: the order depends on the rows alone.

mod buckets;
mod collect;
mod order;
mod threshold;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use yunti_base::Result;
use yunti_sql_plan::SortKey;

use crate::context::Context;
use crate::pipeline::Pipeline;
use buckets::Buckets;
use collect::Collect;

/// Runs the rows of a pipeline into the order of the keys. Returns them as a pipeline, in order of its morsels.
pub fn run(input: &Pipeline, keys: &[SortKey], limit: Option<usize>, context: &Context) -> Result<Pipeline> {
    let sink = Collect::new(keys, limit, &context.budget);
    input.run(&sink, context)?;
    Ok(match sink.into_rows()? {
        Some(collected) => Pipeline::of(Arc::new(Buckets::new(collected, limit, context.threads))),
        None => Pipeline { branches: Vec::new() },
    })
}
