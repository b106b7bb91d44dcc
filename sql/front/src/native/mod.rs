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

/// Returns the plan of a query. Fails with what Yunti's executor lacks, as the end of a sentence.
pub fn translate(plan: &LogicalPlan) -> Result<Node, String> {
    nodes::node(plan).map(yunti_sql_plan::order::order)
}
