//! Pipelines: rows flow from a source through steps to a sink, a batch at a time, on all workers.
//!
//! ```text
//!   branch 1:   source --morsels--> worker: step, step, step --> sink
//!   branch 2:   source --morsels--> worker:       step, step --> sink     begins when branch 1 has ended
//! ```
//!
//! ```text
//!   rows.rs     sources of rows that are in memory already
//!   steps.rs    conditions and expressions, by kernels
//!   output.rs   the sink that hands over rows in the order of morsels
//! ```
//!
//! Branches are the inputs of a union, or rows that come when all others have passed: rows of an outer join's table
//! that nothing matched. The number of a morsel counts through all branches, so that sinks can put rows in order:
//! batches of one morsel come in order, from one worker, and morsels from several workers in any order.

pub mod output;
pub mod rows;
pub mod steps;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Instant;

use arrow_schema::DataType;
use yunti_base::{Code, Error, Result};
use yunti_sql_plan::{Batch, MorselReader};

use self::steps::Stage;
use crate::context::Context;
use crate::meter::{Counts, Under};

/// Where the rows of a pipeline come from.
pub trait Source: Send + Sync {
    /// Returns the number of morsels. Called once, when the branches before have ended.
    fn morsels(&self) -> Result<usize>;

    /// Opens a morsel.
    fn open(&self, morsel: usize) -> Result<Box<dyn MorselReader>>;

    /// Returns the number of rows of all morsels, before conditions; None if it is not known.
    fn rows(&self) -> Option<u64> {
        None
    }

    /// Returns the range of a column's values in a morsel, as `TableSource::own_range` does.
    fn own_range(&self, _morsel: usize, _column: usize) -> Option<(i64, i64)> {
        None
    }

    /// Returns the same rows without its conditions, and stages that have them; None if it has none.
    fn without_conditions(&self) -> Option<Open> {
        None
    }
}

/// A source whose conditions are stages.
pub struct Open {
    pub source: Arc<dyn Source>,
    /// Types of its columns.
    pub types: Vec<DataType>,
    pub stages: Vec<Stage>,
}

/// A change of batches on their way: rows leave, or columns become others.
pub trait Step: Send + Sync {
    /// Returns the step of one worker.
    fn local(&self) -> Result<Box<dyn LocalStep>>;

    /// Returns its stages and the types of the columns that come in, if it consists of stages alone.
    fn stages(&self) -> Option<(&[Stage], &[DataType])> {
        None
    }
}

/// Receives what a step passes on.
pub type Next<'a> = &'a mut dyn FnMut(Batch) -> Result<()>;

/// A step of one worker.
pub trait LocalStep: Send {
    /// Takes a batch, and passes on batches. A batch without rows is never passed on.
    fn push(&mut self, batch: Batch, next: Next<'_>) -> Result<()>;

    /// Passes on rows that it has kept, at the end of each morsel of the source.
    fn flush(&mut self, _morsel: usize, _next: Next<'_>) -> Result<()> {
        Ok(())
    }
}

/// Where the rows of a pipeline go.
pub trait Sink: Send + Sync {
    /// Returns the sink of one worker.
    fn local<'s>(&'s self) -> Result<Box<dyn LocalSink + 's>>;

    /// Returns true if no further morsel is wanted.
    fn is_full(&self) -> bool {
        false
    }
}

/// A sink of one worker.
pub trait LocalSink: Send {
    /// Takes a batch of a morsel.
    fn push(&mut self, morsel: usize, batch: Batch) -> Result<()>;

    /// Notes that a morsel has no more rows.
    fn end(&mut self, _morsel: usize) -> Result<()> {
        Ok(())
    }

    /// Hands over what the worker has. Not called if the pipeline fails.
    fn finish(self: Box<Self>) -> Result<()>;
}

/// Rows of one source with the steps that they pass.
#[derive(Clone)]
pub struct Branch {
    pub source: Arc<dyn Source>,
    pub steps: Vec<Arc<dyn Step>>,
    /// The operator of the source, if rows and times are counted.
    pub counts: Option<Arc<Counts>>,
}

/// Branches that run one after the other.
#[derive(Clone)]
pub struct Pipeline {
    pub branches: Vec<Branch>,
}

impl Pipeline {
    pub fn of(source: Arc<dyn Source>) -> Pipeline {
        Pipeline { branches: vec![Branch { source, steps: Vec::new(), counts: None }] }
    }

    /// Adds a step to all branches.
    pub fn push(&mut self, step: Arc<dyn Step>) {
        self.branches.iter_mut().for_each(|branch| branch.steps.push(step.clone()));
    }

    /// Adds rows that come when all others have passed.
    pub fn then(&mut self, source: Arc<dyn Source>) {
        self.branches.push(Branch { source, steps: Vec::new(), counts: None });
    }

    /// Runs all rows into a sink.
    pub fn run(&self, sink: &dyn Sink, context: &Context) -> Result<()> {
        let mut first = 0;
        for branch in &self.branches {
            let morsels = branch.source.morsels()?;
            branch.run(sink, context, first, morsels)?;
            first += morsels;
        }
        Ok(())
    }
}

impl Branch {
    /// Runs its morsels, whose numbers begin at `first`, on as many workers as there is work for.
    fn run(&self, sink: &dyn Sink, context: &Context, first: usize, morsels: usize) -> Result<()> {
        let (taken, failed) = (AtomicUsize::new(0), AtomicBool::new(false));
        let work = || -> Result<()> {
            let mut steps = self.steps.iter().map(|step| step.local()).collect::<Result<Vec<_>>>()?;
            let mut local = sink.local()?;
            let begin = Instant::now();
            while !failed.load(Ordering::Relaxed) && !sink.is_full() {
                let morsel = taken.fetch_add(1, Ordering::Relaxed);
                if morsel >= morsels {
                    break;
                }
                let mut reader = self.source.open(morsel)?;
                let number = first + morsel;
                // A step may make any number of batches of one: a join of all pairs does.
                let mut out = |batch| {
                    context.check()?;
                    local.push(number, batch)
                };
                while let Some(batch) = reader.next()? {
                    context.check()?;
                    push(&mut steps, batch, &mut out)?;
                }
                for at in 0..steps.len() {
                    let (own, behind) = steps[at..].split_first_mut().expect("`at` is within");
                    own.flush(morsel, &mut |batch| push(behind, batch, &mut out))?;
                }
                local.end(number)?;
            }
            drop(steps);
            let taker = context.under.as_ref().map(Under::counts);
            if let Some(counts) = self.counts.as_ref().or(taker) {
                counts.add_loop(begin);
            }
            let begin = Instant::now();
            let done = if failed.load(Ordering::Relaxed) { Ok(()) } else { local.finish() };
            if let Some(counts) = taker {
                counts.add_end(begin);
            }
            done
        };
        let guarded = || {
            let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work))
                .unwrap_or_else(|_| Err(Error::new(Code::Internal, "an operator of the query failed with a panic")));
            done.inspect_err(|_| failed.store(true, Ordering::Relaxed))
        };
        let workers = context.threads.min(morsels).max(1);
        if workers == 1 {
            return guarded();
        }
        std::thread::scope(|scope| {
            let others: Vec<_> = (1..workers).map(|_| scope.spawn(guarded)).collect();
            let own = guarded();
            // The first failure in the order of workers; all of them have stopped.
            others.into_iter().fold(own, |so_far, other| so_far.and(other.join().unwrap_or(Ok(()))))
        })
    }
}

fn push(steps: &mut [Box<dyn LocalStep>], batch: Batch, out: Next<'_>) -> Result<()> {
    if batch.rows == 0 {
        return Ok(());
    }
    match steps.split_first_mut() {
        None => out(batch),
        Some((step, behind)) => step.push(batch, &mut |batch| push(behind, batch, out)),
    }
}
