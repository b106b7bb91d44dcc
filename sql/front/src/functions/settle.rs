//! The walk of rules that change expressions by the types of their parts.

use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{DFSchema, Result};
use datafusion::logical_expr::expr_rewriter::NamePreserver;
use datafusion::logical_expr::utils::merge_schema;
use datafusion::logical_expr::{Expr, LogicalPlan};

/// Returns a plan whose expressions, and those of its subqueries, are what `settled` makes of them by the columns of
/// their operator's inputs, the inner ones first. They keep their names. `finish` settles the operator itself.
pub fn expressions(
    plan: LogicalPlan,
    settled: impl Fn(Expr, &DFSchema) -> Result<Transformed<Expr>>,
    finish: impl Fn(LogicalPlan, &DFSchema) -> Result<LogicalPlan>,
) -> Result<LogicalPlan> {
    plan.transform_up_with_subqueries(|plan| {
        let mut schema = merge_schema(&plan.inputs());
        if let LogicalPlan::TableScan(scan) = &plan {
            schema.merge(&scan.projected_schema);
        }
        let names = NamePreserver::new(&plan);
        plan.map_expressions(|expression| {
            let name = names.save(&expression);
            let changed = expression.transform_up(|of| settled(of, &schema))?;
            Ok(changed.update_data(|of| name.restore(of)))
        })?
        .map_data(|plan| finish(plan, &schema))
    })
    .map(|changed| changed.data)
}
