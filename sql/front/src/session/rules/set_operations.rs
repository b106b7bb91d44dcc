//! `intersect all` and `except all`: equal rows count as often as they are there. The planner makes a semi join or an
//! anti join of them, which keeps all equal rows of the left side, or none. Here each row has the number among its
//! equals, as a further key of the join.

use std::sync::Arc;

use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::Transformed;
use datafusion::common::{JoinType, NullEquality, Result};
use datafusion::functions_window::expr_fn::row_number;
use datafusion::logical_expr::{Distinct, Expr, ExprFunctionExt, Join, LogicalPlan, LogicalPlanBuilder, Projection};
use datafusion::optimizer::AnalyzerRule;

use super::Names;

/// The rule.
#[derive(Debug)]
pub struct Counted;

impl AnalyzerRule for Counted {
    fn name(&self) -> &str {
        "counted_set_operations"
    }

    fn analyze(&self, plan: LogicalPlan, _: &ConfigOptions) -> Result<LogicalPlan> {
        let names = Names::default();
        let counted = plan.transform_up_with_subqueries(|plan| match plan {
            LogicalPlan::Join(join) if is_of_all(&join) => counted(join, &names).map(Transformed::yes),
            other => Ok(Transformed::no(other)),
        });
        counted.map(|changed| changed.data)
    }
}

/// Returns true for a join that the planner makes of a set operation with `all`. Without it, the left side is distinct;
/// then numbers would change nothing. No join of a text has keys whose nulls are equal.
fn is_of_all(join: &Join) -> bool {
    matches!(join.join_type, JoinType::LeftSemi | JoinType::LeftAnti)
        && join.null_equality == NullEquality::NullEqualsNull
        && !matches!(*join.left, LogicalPlan::Distinct(Distinct::All(_)))
        && join.filter.is_none()
        && join.on.len() == join.left.schema().fields().len()
}

fn counted(join: Join, names: &Names) -> Result<LogicalPlan> {
    let columns: Vec<Expr> = join.left.schema().columns().into_iter().map(Expr::Column).collect();
    let side = |plan: &Arc<LogicalPlan>, keys: Vec<Expr>| {
        let own: Vec<Expr> = plan.schema().columns().into_iter().map(Expr::Column).collect();
        let call = row_number().partition_by(keys).build()?.alias(names.next());
        let number = Expr::from(datafusion::common::Column::from_name(call.schema_name().to_string()));
        let plan =
            LogicalPlanBuilder::from(plan.clone()).window(vec![call])?.project([own, vec![number.clone()]].concat())?;
        Ok::<_, datafusion::common::DataFusionError>((Arc::new(plan.build()?), number))
    };
    let (lefts, rights): (Vec<Expr>, Vec<Expr>) = join.on.into_iter().unzip();
    let (left, left_number) = side(&join.left, lefts.clone())?;
    let (right, right_number) = side(&join.right, rights.clone())?;
    let on = lefts.into_iter().chain([left_number]).zip(rights.into_iter().chain([right_number])).collect();
    let join = Join::try_new(left, right, on, None, join.join_type, join.join_constraint, join.null_equality, false)?;
    Ok(LogicalPlan::Projection(Projection::try_new(columns, Arc::new(LogicalPlan::Join(join)))?))
}
