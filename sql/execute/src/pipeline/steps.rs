//! Steps that look at one batch at a time: conditions and expressions.

use yunti_base::Result;
use yunti_sql_plan::{Batch, Expression};

use super::{LocalStep, Next, Step};
use crate::expression::{Condition, Evaluator, Selection};

/// Passes on the rows that meet a condition.
pub struct Filter(pub Expression);

/// Passes on a value of each expression for each row.
pub struct Project(pub Vec<Expression>);

struct LocalFilter(Condition);

struct LocalProject(Vec<Evaluator>);

impl Step for Filter {
    fn local(&self) -> Result<Box<dyn LocalStep>> {
        Ok(Box::new(LocalFilter(Condition::new(std::slice::from_ref(&self.0))?)))
    }
}

impl LocalStep for LocalFilter {
    fn push(&mut self, batch: Batch, next: Next<'_>) -> Result<()> {
        match self.0.select(&batch)? {
            Selection::All => next(batch),
            Selection::Rows(rows) => next(batch.select(&rows)),
        }
    }
}

impl Step for Project {
    fn local(&self) -> Result<Box<dyn LocalStep>> {
        Ok(Box::new(LocalProject(self.0.iter().map(Evaluator::new).collect::<Result<_>>()?)))
    }
}

impl LocalStep for LocalProject {
    fn push(&mut self, batch: Batch, next: Next<'_>) -> Result<()> {
        let columns = self.0.iter_mut().map(|of| of.evaluate(&batch)).collect::<Result<_>>()?;
        next(Batch { columns, rows: batch.rows })
    }
}
