//! Stages that look at one batch at a time: conditions and expressions, by kernels.

use std::sync::Arc;
use std::time::{Duration, Instant};

use arrow_schema::DataType;
use yunti_base::Result;
use yunti_sql_plan::{Batch, Expression, Operation};

use super::{LocalStep, Next, Pipeline, Step};
use crate::expression::{Condition, Evaluator, Selection};
use crate::meter::{Counts, Under};

/// A change of batches.
#[derive(Clone, Debug)]
pub enum Stage {
    /// Passes on the rows that meet a condition.
    Filter(Expression),
    /// Passes on a value of each expression for each row.
    Project(Vec<Expression>),
}

impl Stage {
    /// Returns the types of the columns that go out.
    pub fn types(&self, types: &[DataType]) -> Vec<DataType> {
        match self {
            Stage::Filter(_) => types.to_vec(),
            Stage::Project(all) => all.iter().map(|of| of.data_type.clone()).collect(),
        }
    }
}

/// Stages of one worker, one after the other.
pub struct Kernels(Vec<Kernel>);

enum Kernel {
    /// With the columns that are passed on; None: all.
    Filter(Condition, Option<Vec<usize>>),
    Project(Vec<Evaluator>),
}

/// Makes stages ready.
pub fn kernels(stages: &[Stage]) -> Result<Kernels> {
    let mut kernels = Vec::with_capacity(stages.len());
    for stage in stages {
        match (stage, kernels.last_mut()) {
            // Columns that no one needs are not copied.
            (Stage::Project(all), Some(Kernel::Filter(_, columns @ None))) if columns_of(all).is_some() => {
                *columns = columns_of(all);
            }
            (Stage::Filter(condition), _) => {
                kernels.push(Kernel::Filter(Condition::new(std::slice::from_ref(condition))?, None));
            }
            (Stage::Project(all), _) => {
                kernels.push(Kernel::Project(all.iter().map(Evaluator::new).collect::<Result<_>>()?));
            }
        }
    }
    Ok(Kernels(kernels))
}

/// Returns the numbers of columns; None if an expression is another.
fn columns_of(all: &[Expression]) -> Option<Vec<usize>> {
    all.iter().map(|of| if let Operation::Column(number) = of.operation { Some(number) } else { None }).collect()
}

impl Kernels {
    /// Returns what the stages make of a batch; None if no row is left.
    pub fn run(&mut self, mut batch: Batch) -> Result<Option<Batch>> {
        for kernel in &mut self.0 {
            batch = match kernel {
                Kernel::Filter(condition, columns) => {
                    let selection = condition.select(&batch)?;
                    let batch = match columns {
                        Some(columns) => batch.project(columns),
                        None => batch,
                    };
                    match selection {
                        Selection::All => batch,
                        Selection::Rows(rows) => batch.select(&rows),
                    }
                }
                Kernel::Project(all) => {
                    let columns = all.iter_mut().map(|of| of.evaluate(&batch)).collect::<Result<_>>()?;
                    Batch { columns, rows: batch.rows }
                }
            };
            if batch.rows == 0 {
                return Ok(None);
            }
        }
        Ok(Some(batch))
    }
}

impl LocalStep for Kernels {
    fn push(&mut self, batch: Batch, next: Next<'_>) -> Result<()> {
        self.run(batch)?.map_or(Ok(()), next)
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
