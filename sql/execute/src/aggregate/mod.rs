//! Groups and their states.

use yunti_base::Result;
use yunti_sql_plan::{Aggregate, Expression};

use crate::context::Context;
use crate::pipeline::Pipeline;

/// Runs the rows of a pipeline into groups. Returns the rows of `Node::Aggregate` as a pipeline.
pub fn run(
    _input: &Pipeline,
    (_keys, _sets): (&[Expression], &[Vec<usize>]),
    _aggregates: &[Aggregate],
    _context: &Context,
) -> Result<Pipeline> {
    todo!()
}
