//! Tables of rows, and rows that look into them.

use yunti_base::Result;
use yunti_sql_plan::Join;

use crate::context::Context;
use crate::pipeline::Pipeline;

/// Runs the rows of the side that the table is built of, then adds the look-up to the pipeline of the other side, which
/// `probe` makes. Returns the rows of the join.
pub fn run(
    _build: &Pipeline,
    _join: &Join,
    _probe: impl FnOnce() -> Result<Pipeline>,
    _context: &Context,
) -> Result<Pipeline> {
    todo!()
}
