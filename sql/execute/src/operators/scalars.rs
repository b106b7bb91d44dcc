//! Values of plans that stand in expressions: each runs once, before the plan around it, and becomes a constant.

use std::any::Any;
use std::sync::Arc;

use yunti_base::{Code, Error, Result};
use yunti_engine::columns::vector::Value;
use yunti_sql_plan::{Expression, Node, Operation};

/// Function that runs a plan and returns its only value.
pub type Run<'f> = dyn FnMut(&Node) -> Result<Value> + 'f;

/// Returns the plan with constants in the places of plans, whose values `value` returns. Fails with its error.
pub fn resolve(plan: &Node, value: &mut Run<'_>) -> Result<Node> {
    let mut plan = plan.clone();
    resolve_in(&mut plan, value)?;
    Ok(plan)
}

fn resolve_in(plan: &mut Node, value: &mut Run<'_>) -> Result<()> {
    plan.expressions_mut().into_iter().try_for_each(|of| resolve_expression(of, value))?;
    plan.inputs_mut().into_iter().try_for_each(|input| resolve_in(input, value))
}

fn resolve_expression(of: &mut Expression, value: &mut Run<'_>) -> Result<()> {
    if let Operation::Scalar(plan) = &of.operation {
        let plan: &dyn Any = &**plan;
        let plan = plan.downcast_ref::<Node>();
        let plan =
            plan.ok_or_else(|| Error::new(Code::Internal, "the value is needed of something that is no plan"))?;
        of.operation = Operation::Literal(value(plan)?);
    }
    of.children_mut().into_iter().try_for_each(|child| resolve_expression(child, value))
}

/// Changes the plans that stand in an expression.
pub fn change_plans(of: &mut Expression, change: &mut dyn FnMut(&mut Node) -> Result<()>) -> Result<()> {
    if let Operation::Scalar(plan) = &mut of.operation {
        let any: &dyn Any = &**plan;
        if let Some(node) = any.downcast_ref::<Node>() {
            let mut node = node.clone();
            change(&mut node)?;
            *plan = Arc::new(node);
        }
    }
    of.children_mut().into_iter().try_for_each(|child| change_plans(child, change))
}

/// Returns true if an expression needs the value of a plan.
pub fn is_needed(plan: &Node) -> bool {
    fn within(of: &Expression) -> bool {
        matches!(of.operation, Operation::Scalar(_)) || of.children().into_iter().any(within)
    }
    plan.expressions().into_iter().any(within) || plan.inputs().into_iter().any(is_needed)
}
