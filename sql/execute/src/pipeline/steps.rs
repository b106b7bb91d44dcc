//! Steps that look at one batch at a time: conditions and expressions.

use std::sync::Arc;
use std::time::{Duration, Instant};

use yunti_base::Result;
use yunti_sql_plan::{Batch, Expression};

use super::{LocalStep, Next, Pipeline, Step};
use crate::expression::{Condition, Evaluator, Selection};
use crate::meter::{Counts, Under};

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

/// Counts the rows of the operator that has made a pipeline, and the time of its sources that have no operator yet.
pub fn count(pipeline: &mut Pipeline, under: &Under) {
    pipeline.push(Arc::new(Counted(under.counts().clone())));
    pipeline.branches.iter_mut().for_each(|branch| {
        branch.counts.get_or_insert_with(|| under.counts().clone());
    });
}

/// The step behind an operator.
struct Counted(Arc<Counts>);

struct LocalCounted {
    shared: Arc<Counts>,
    rows: u64,
    below: Duration,
}

impl Step for Counted {
    fn local(&self) -> Result<Box<dyn LocalStep>> {
        Ok(Box::new(LocalCounted { shared: self.0.clone(), rows: 0, below: Duration::ZERO }))
    }
}

impl LocalStep for LocalCounted {
    fn push(&mut self, batch: Batch, next: Next<'_>) -> Result<()> {
        self.rows += batch.rows as u64;
        let begin = Instant::now();
        let done = next(batch);
        self.below += begin.elapsed();
        done
    }
}

impl Drop for LocalCounted {
    fn drop(&mut self) {
        self.shared.add_rows(self.rows, self.below);
    }
}
