//! Steps of a pipeline as expressions over the columns that come in: what a program computes of them.
//!
//! ```text
//!   filter c1, project (e1, e2), filter c2   -->   keep c1;  compute e1, e2;  keep c2 (over e1, e2);  outputs e1, e2
//! ```
//!
//! Expressions are computed where kernels would compute them, so that a division by zero in `e1` is one for a row that
//! `c2` removes later. A part that programs lack, such as `like`, is a further column that kernels compute, if it
//! depends on one column of codes: then it costs little, once for each value of a dictionary.

use std::sync::Arc;

use arrow_schema::DataType;
use yunti_base::Result;
use yunti_engine::columns::kind::Kind;
use yunti_engine::columns::vector::Value;
use yunti_sql_plan::{Batch, Expression, Function, Operation, kind_of};

use super::bind::with_columns;
use super::lower::{self, Builder, LIST_MAX, Lowered};
use crate::code::Id;
use crate::expression::Evaluator;
use crate::pipeline::steps::Stage;

/// Parts of all expressions of a plan, at most.
const PARTS_MAX: usize = 2_000;

/// Uses of the rows, in order.
#[derive(Clone, Debug)]
enum Action {
    Keep(Expression),
    Compute(Vec<Expression>),
}

/// Stages as expressions over the columns that come in, then over the columns that kernels compute.
#[derive(Clone, Debug)]
pub struct Plan {
    actions: Vec<Action>,
    /// Columns that go out.
    pub outputs: Vec<Expression>,
    /// Columns that kernels compute, over the columns that come in.
    extras: Vec<Expression>,
    /// Columns that come in.
    columns: usize,
    /// Operations that are more than a look-up.
    work: usize,
}

impl Plan {
    /// Returns the plan of stages over some columns; None if programs lack a part of it.
    pub fn new(stages: &[Stage], types: &[DataType]) -> Option<Plan> {
        let mut plan = Plan::empty(types);
        let mut parts = 0;
        for stage in stages {
            match stage {
                Stage::Filter(condition) => {
                    let condition = plan.over_inputs(condition, &mut parts)?;
                    plan.actions.push(Action::Keep(condition));
                }
                Stage::Project(all) => {
                    let mut outputs = Vec::with_capacity(all.len());
                    for one in all {
                        outputs.push(plan.over_inputs(one, &mut parts)?);
                    }
                    let computed = outputs.iter().filter(|of| !matches!(of.operation, Operation::Column(_)));
                    let computed: Vec<_> = computed.cloned().collect();
                    if !computed.is_empty() {
                        plan.actions.push(Action::Compute(computed));
                    }
                    plan.outputs = outputs;
                }
            }
        }
        Some(plan)
    }

    /// Returns the plan of no stages.
    fn empty(types: &[DataType]) -> Plan {
        let outputs = types.iter().enumerate().map(|(n, of)| Expression::column(n, of.clone())).collect();
        Plan { actions: Vec::new(), outputs, extras: Vec::new(), columns: types.len(), work: 0 }
    }

    /// Returns true if it does enough with a row that code is worth it.
    pub fn has_work(&self) -> bool {
        self.work >= 2
    }

    /// Returns an expression over the outputs as one over the columns that come in; None if programs lack a part.
    pub fn over_inputs(&mut self, expression: &Expression, parts: &mut usize) -> Option<Expression> {
        let mut expression = expression.clone();
        substitute(&mut expression, &self.outputs, parts)?;
        // A column of texts passes through as it is.
        if !matches!(expression.operation, Operation::Column(_)) {
            self.split(&mut expression)?;
        }
        Some(expression)
    }

    /// Puts columns that kernels compute in the place of what programs lack.
    fn split(&mut self, expression: &mut Expression) -> Option<()> {
        if let Operation::Column(_) | Operation::Literal(_) = expression.operation {
            return has_values(&expression.data_type).then_some(());
        }
        let whole = expression.clone();
        let is_known =
            has_operation(expression) && expression.children_mut().into_iter().all(|child| self.split(child).is_some());
        if is_known {
            self.work += 1;
            return Some(());
        }
        *expression = self.extra(whole)?;
        Some(())
    }

    /// Returns a column that kernels compute.
    fn extra(&mut self, expression: Expression) -> Option<Expression> {
        let mut columns = Vec::new();
        expression.visit_columns(&mut |column| columns.push(column));
        let first = *columns.first()?;
        let is_one = columns.iter().all(|column| *column == first) && first < self.columns;
        if !is_one || !has_values(&expression.data_type) || has_scalar(&expression) {
            return None;
        }
        let shown = format!("{expression:?}");
        let number = self.extras.iter().position(|extra| format!("{extra:?}") == shown);
        let data_type = expression.data_type.clone();
        let number = number.unwrap_or_else(|| {
            self.extras.push(expression);
            self.extras.len() - 1
        });
        Some(Expression::column(self.columns + number, data_type))
    }

    /// Lowers the actions. Returns false if programs lack something for these columns.
    pub fn lower_actions(&self, builder: &mut Builder) -> bool {
        for action in &self.actions {
            match action {
                Action::Keep(condition) => {
                    let Some(condition) = lower::lower(builder, condition, builder.kept()) else { return false };
                    let holds = holds(builder, condition);
                    builder.keep(holds);
                }
                Action::Compute(all) => {
                    if all.iter().any(|one| lower::lower(builder, one, builder.kept()).is_none()) {
                        return false;
                    }
                }
            }
        }
        !builder.is_large()
    }

    /// Returns true for each column, also of kernels, that the actions or other expressions need.
    pub fn wanted<'e>(&'e self, others: impl Iterator<Item = &'e Expression>) -> Vec<bool> {
        let mut wanted = vec![false; self.columns + self.extras.len()];
        let actions = self.actions.iter().flat_map(|action| match action {
            Action::Keep(condition) => std::slice::from_ref(condition),
            Action::Compute(all) => &all[..],
        });
        actions.chain(others).for_each(|of| of.visit_columns(&mut |column| wanted[column] = true));
        wanted
    }

    /// Returns true if the columns that kernels compute for a batch cost little: they depend on few values.
    pub fn takes(&self, batch: &Batch) -> bool {
        self.extras.iter().all(|extra| {
            let mut is_cheap = true;
            extra.visit_columns(&mut |column| {
                let dictionary = batch.columns.get(column).and_then(|column| column.data.codes());
                is_cheap &= dictionary.is_some_and(|(_, of)| of.len() <= batch.rows);
            });
            is_cheap
        })
    }

    /// Returns the evaluators of the columns that kernels compute.
    pub fn evaluators(&self) -> Result<Vec<Evaluator>> {
        self.extras.iter().map(Evaluator::new).collect()
    }
}

/// Returns true where a condition holds: it is neither false nor null.
pub fn holds(builder: &mut Builder, condition: Lowered) -> Id {
    match condition.null {
        None => condition.id,
        Some(null) => {
            let known = builder.not(null);
            builder.and(condition.id, known)
        }
    }
}

/// Returns a batch with the columns that kernels compute; None if one has an error, which the query may not have.
pub fn with_extras(batch: &Batch, evaluators: &mut [Evaluator]) -> Option<Batch> {
    if evaluators.is_empty() {
        return Some(batch.clone());
    }
    let mut more: Vec<Arc<_>> = Vec::with_capacity(evaluators.len());
    for evaluator in evaluators {
        more.push(evaluator.evaluate(batch).ok()?);
    }
    Some(with_columns(batch, more))
}

/// Puts expressions in the place of columns. None if the result is too large.
fn substitute(expression: &mut Expression, by: &[Expression], parts: &mut usize) -> Option<()> {
    *parts += 1;
    if *parts > PARTS_MAX {
        return None;
    }
    if let Operation::Column(number) = expression.operation {
        let of = by.get(number)?;
        *parts += size_of(of, PARTS_MAX);
        *expression = of.clone();
        return (*parts <= PARTS_MAX).then_some(());
    }
    expression.children_mut().into_iter().try_for_each(|child| substitute(child, by, parts))
}

/// Returns the number of parts, as far as `most`.
fn size_of(expression: &Expression, most: usize) -> usize {
    let mut size = 1;
    for child in expression.children() {
        if size >= most {
            break;
        }
        size += size_of(child, most - size);
    }
    size
}

fn has_scalar(expression: &Expression) -> bool {
    matches!(expression.operation, Operation::Scalar(_) | Operation::Foreign(..))
        || expression.children().into_iter().any(has_scalar)
}

/// Returns true for a type whose values programs take.
fn has_values(data_type: &DataType) -> bool {
    kind_of(data_type).is_some_and(|kind| kind != Kind::Text) && *data_type != DataType::Float16
}

/// Returns true if programs have the operation itself, for operands that they take.
fn has_operation(expression: &Expression) -> bool {
    let of_numbers = || expression.children().into_iter().all(|child| has_values(&child.data_type));
    has_values(&expression.data_type)
        && of_numbers()
        && match &expression.operation {
            Operation::In { list, .. } => {
                list.len() <= LIST_MAX && !list.iter().any(|value| matches!(value, Value::Bytes(_)))
            }
            Operation::Cast { value, .. } => lower::has_cast(&value.data_type, &expression.data_type),
            Operation::Call(function, _) => *function == Function::Coalesce,
            Operation::Like { .. } | Operation::Scalar(_) | Operation::Foreign(..) => false,
            _ => true,
        }
}
