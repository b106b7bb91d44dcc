//! Rows in order, and the first of them.

use yunti_base::Result;
use yunti_sql_plan::SortKey;

use crate::context::Context;
use crate::pipeline::Pipeline;

/// Runs the rows of a pipeline into the order of the keys. Returns them as a pipeline, in order of its morsels.
pub fn run(_input: &Pipeline, _keys: &[SortKey], _limit: Option<usize>, _context: &Context) -> Result<Pipeline> {
    todo!()
}
