//! Values of expressions for a batch.

use std::sync::Arc;

use yunti_base::Result;
use yunti_engine::columns::vector::Vector;
use yunti_sql_plan::{Batch, Expression};

/// An expression of one worker.
pub struct Evaluator {
    expression: Expression,
}

impl Evaluator {
    pub fn new(expression: &Expression) -> Result<Evaluator> {
        Ok(Evaluator { expression: expression.clone() })
    }

    /// Returns the value of each row.
    pub fn evaluate(&mut self, batch: &Batch) -> Result<Arc<Vector>> {
        todo!("{} {}", self.expression, batch.rows)
    }
}

/// Rows of a batch that meet a condition.
pub enum Selection {
    All,
    Rows(Vec<u32>),
}

/// Conditions of one worker, all of which a row must meet.
pub struct Condition {
    all: Vec<Evaluator>,
}

impl Condition {
    pub fn new(all: &[Expression]) -> Result<Condition> {
        Ok(Condition { all: all.iter().map(Evaluator::new).collect::<Result<_>>()? })
    }

    /// Returns the rows for which all conditions are true: neither false nor null.
    pub fn select(&mut self, batch: &Batch) -> Result<Selection> {
        todo!("{} {}", self.all.len(), batch.rows)
    }
}
