//! Values of expressions for a batch, whole vectors at a time.
//!
//! ```text
//!   Expression --prepare--> Node --evaluate--> vector        Condition: nodes in order --> rows that are left
//!              node.rs          evaluate.rs
//!
//!   scope.rs      rows and columns that a part is computed for
//!   codes.rs      values for a dictionary, looked up by code
//!   operand.rs    a vector, or one value for all rows
//!   predicate/, arithmetic/, conditional.rs, cast/, functions/    the loops
//! ```
//!
//! Errors of values are `Invalid`: a result or a conversion out of range, a division by zero. Each names the value.

mod arithmetic;
mod cast;
mod codes;
mod conditional;
mod evaluate;
mod functions;
mod node;
mod operand;
mod predicate;
mod scope;

#[cfg(test)]
mod tests;

pub use functions::intervals;

use std::sync::Arc;

use yunti_base::Result;
use yunti_engine::columns::vector::Vector;
use yunti_sql_plan::{Batch, Expression};

pub(crate) use arithmetic::limits_of;
use node::{Node, Prepared};
use scope::Scope;

pub use arithmetic::mean_of;

/// An expression of one worker.
pub struct Evaluator {
    node: Node,
}

impl Evaluator {
    /// Makes an expression ready. Errors: `Usage` if it is too deep, `Internal` for a type without values here.
    pub fn new(expression: &Expression) -> Result<Evaluator> {
        Ok(Evaluator { node: node::prepare(expression, evaluate::fold)? })
    }

    /// Returns the value of each row. Errors: `Invalid` for a value that an operation cannot take.
    pub fn evaluate(&mut self, batch: &Batch) -> Result<Arc<Vector>> {
        let scope = Scope::of(batch);
        let vector = evaluate::evaluate_coded(&mut self.node, &scope)?;
        match &vector.nulls {
            Some(nulls) if !nulls.contains(&true) => Ok(Arc::new(Vector::of(vector.data.clone()))),
            _ => Ok(vector),
        }
    }
}

/// Rows of a batch that meet a condition.
pub enum Selection {
    All,
    Rows(Vec<u32>),
}

/// Conditions of one worker, all of which a row must meet.
pub struct Condition {
    all: Vec<Node>,
}

impl Condition {
    /// Makes conditions ready. Errors: as `Evaluator::new`.
    pub fn new(all: &[Expression]) -> Result<Condition> {
        let mut parts = Vec::new();
        for expression in all {
            let node = node::prepare(expression, evaluate::fold)?;
            match node.operation {
                Prepared::Logic { or: false, parts: inner } => parts.extend(inner),
                _ => parts.push(node),
            }
        }
        Ok(Condition { all: parts })
    }

    /// Returns the rows for which all conditions are true: neither false nor null. Errors: as `Evaluator::evaluate`.
    pub fn select(&mut self, batch: &Batch) -> Result<Selection> {
        let scope = Scope::of(batch);
        // None for all rows.
        let mut left: Option<Vec<u32>> = None;
        for node in &mut self.all {
            let kept = match &left {
                None => evaluate::rows_where(node, &scope)?,
                Some(left) if left.is_empty() => break,
                Some(left) if node.is_for_all(left.len(), batch.rows) => {
                    evaluate::rows_where_among(node, left, &scope)?
                }
                Some(left) => {
                    let kept = evaluate::rows_where(node, &scope.choose(left))?;
                    kept.into_iter().map(|number| left[number as usize]).collect()
                }
            };
            left = if kept.len() == batch.rows { None } else { Some(kept) };
        }
        Ok(left.map_or(Selection::All, Selection::Rows))
    }
}
