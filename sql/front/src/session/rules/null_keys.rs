//! Joins whose keys are equal if both are null. The planner adds an equation of the query to the keys of such a join,
//! and then the nulls of that equation match as well. Here the keys become conditions, before it does so.

use datafusion::common::tree_node::Transformed;
use datafusion::common::{NullEquality, Result};
use datafusion::logical_expr::utils::split_conjunction;
use datafusion::logical_expr::{BinaryExpr, Expr, Join, LogicalPlan, Operator, binary_expr};
use datafusion::optimizer::{ApplyOrder, OptimizerConfig, OptimizerRule};

/// The rule of the planner that makes keys of equations.
pub const BEFORE: &str = "extract_equijoin_predicate";

/// The rule.
#[derive(Debug)]
pub struct NullKeys;

impl OptimizerRule for NullKeys {
    fn name(&self) -> &str {
        "null_keys"
    }

    fn apply_order(&self) -> Option<ApplyOrder> {
        Some(ApplyOrder::BottomUp)
    }

    fn supports_rewrite(&self) -> bool {
        true
    }

    fn rewrite(&self, plan: LogicalPlan, _: &dyn OptimizerConfig) -> Result<Transformed<LogicalPlan>> {
        match plan {
            LogicalPlan::Join(join) if has_both(&join) => {
                let same = |(a, b): (Expr, Expr)| binary_expr(a, Operator::IsNotDistinctFrom, b);
                let filter = join.on.into_iter().map(same).chain(join.filter).reduce(Expr::and);
                let null_equality = NullEquality::NullEqualsNothing;
                Ok(Transformed::yes(LogicalPlan::Join(Join { on: Vec::new(), filter, null_equality, ..join })))
            }
            other => Ok(Transformed::no(other)),
        }
    }
}

/// Returns true for a join that has keys of both kinds.
fn has_both(join: &Join) -> bool {
    let is_equation = |of: &Expr| matches!(of, Expr::BinaryExpr(BinaryExpr { op: Operator::Eq, .. }));
    join.null_equality == NullEquality::NullEqualsNull
        && !join.on.is_empty()
        && join.filter.as_ref().is_some_and(|filter| split_conjunction(filter).into_iter().any(is_equation))
}
