//! Rows in order, and the first of them.
//!
//! ```text
//!   rows --> collect: rows behind the threshold leave at once --> buckets by the first key --> sorted when read
//!                                            \-> no memory: sorted runs in the spill file --> merge
//! ```
//!
//! Rows that are equal in all keys are in the order of all their columns: the order depends on the rows alone.

mod buckets;
mod collect;
mod merge;
mod order;
mod threshold;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use yunti_base::Result;
use yunti_sql_plan::SortKey;

use crate::context::Context;
use crate::pipeline::Pipeline;
use crate::spill::Spill;
use buckets::Buckets;
use collect::{Collect, Collected};
use merge::Merge;

/// Runs the rows of a pipeline into the order of the keys. Returns them as a pipeline, in order of its morsels.
pub fn run(input: &Pipeline, keys: &[SortKey], limit: Option<usize>, context: &Context) -> Result<Pipeline> {
    let spill = Spill::new(&context.env);
    // Half of what is free: operators above need memory too.
    let budget = context.budget.part(context.budget.free_bytes() / 2);
    let sink = Collect::new(keys, limit, &budget, &spill);
    input.run(&sink, context)?;
    Ok(match sink.into_collected()? {
        Collected::None => Pipeline { branches: Vec::new() },
        Collected::Memory { rows, layout, grant } => {
            Pipeline::of(Arc::new(Buckets::new(rows, layout, grant, limit, context.threads)))
        }
        Collected::Runs { runs, layout } => Pipeline::of(Arc::new(Merge::new(runs, layout, limit, spill, context)?)),
    })
}
