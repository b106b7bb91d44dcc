//! DataFusion's optimized logical plan as a plan of Yunti's executor, or the reason why there is none.
//!
//! ```text
//!   nodes.rs         operators
//!   expressions.rs   expressions and literals
//!   functions.rs     functions and aggregates by their names
//! ```

mod expressions;
mod functions;
mod nodes;

use datafusion::logical_expr::LogicalPlan;
use yunti_sql_plan::Node;

/// Translation of one query. Its parts call each other through it: an expression may have a plan within.
#[derive(Clone, Copy)]
struct Translation;

/// Returns the plan of a query. Fails with what Yunti's executor lacks, as the end of a sentence.
pub fn translate(plan: &LogicalPlan) -> Result<Node, String> {
    Translation.node(plan).map(yunti_sql_plan::order::order)
}
