//! DataFusion's optimized logical plan as a plan of Yunti's executor, or the reason why there is none.
//!
//! ```text
//!   nodes.rs         operators
//!   expressions.rs   expressions and literals
//!   windows.rs       windows and their frames
//!   calendar.rs      constant intervals, and calendars that are UTC's
//!   recursive.rs     recursive queries
//!   functions.rs     functions and aggregates by their names
//!   foreign.rs       parts that the executor lacks, which DataFusion computes
//!   panics.rs        their panics as errors
//! ```

mod calendar;
mod expressions;
mod foreign;
mod functions;
mod nodes;
mod panics;
mod recursive;
mod windows;

use std::sync::Arc;

use datafusion::execution::SessionState;
use datafusion::logical_expr::LogicalPlan;
use yunti_engine::memory::Budget;
use yunti_sql_plan::Node;

/// Translation of one query. Its parts call each other through it: an expression may have a plan within.
#[derive(Clone, Copy)]
struct Translation<'q> {
    library: &'q foreign::Library,
    state: &'q SessionState,
}

/// Returns the plan of a query. Fails with what Yunti's executor lacks, as the end of a sentence. What the executor's
/// functions make of large texts is taken from `budget`.
pub fn translate(plan: &LogicalPlan, state: &SessionState, budget: &Arc<Budget>) -> Result<Node, String> {
    let mut props = state.execution_props().clone();
    props.config_options.get_or_insert_with(|| state.config_options().clone());
    let library = foreign::Library::new(props, budget.clone());
    Translation { library: &library, state }.node(plan).map(yunti_sql_plan::order::order)
}
