//! A crew: workers that take numbered tasks from one queue until all are done or one fails.
//!
//! A panic in a task becomes an error of the task. The first error stops the other workers at their next task and is
//! the result.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use super::Threads;
use crate::env::sync::Mutex;
use yunti_base::{Cancel, Code, Error, Result, error};

/// Returns true once another worker of the crew has failed.
pub type Stop<'a> = &'a (dyn Fn() -> bool + Sync);

/// Workers that run tasks together.
pub struct Crew<'a> {
    /// Threads that the workers run on.
    pub threads: &'a dyn Threads,
    /// Number of workers.
    pub workers: usize,
    /// The job's cancellation; `each` checks it before every task.
    pub cancel: &'a Cancel,
}

impl Crew<'_> {
    /// Runs `task(worker, number)` for each number in `0..tasks`, in ascending order of the starts.
    ///
    /// Returns the first error of a task, or `Code::Cancelled` if the job was cancelled.
    pub fn each(&self, tasks: usize, task: impl Fn(usize, usize) -> Result<()> + Sync) -> Result<()> {
        let next = AtomicUsize::new(0);
        self.together(tasks.min(self.workers), |worker, stop| {
            loop {
                if stop() {
                    return Ok(());
                }
                self.cancel.check()?;
                let number = next.fetch_add(1, Ordering::Relaxed);
                if number >= tasks {
                    return Ok(());
                }
                task(worker, number)?;
            }
        })
    }

    /// Runs `body(worker, stop)` once on each of `workers` workers; `stop()` returns true once another worker has
    /// failed.
    ///
    /// Returns the first error, but any other error comes before `Code::Cancelled`.
    pub fn together(
        &self,
        workers: usize,
        body: impl Fn(usize, &(dyn Fn() -> bool + Sync)) -> Result<()> + Sync,
    ) -> Result<()> {
        let failed = AtomicBool::new(false);
        let first: Mutex<Option<Error>> = Mutex::new(None);
        let stop = || failed.load(Ordering::Relaxed);
        let one = |worker: usize| {
            let result = catch_unwind(AssertUnwindSafe(|| body(worker, &stop)))
                .unwrap_or_else(|panic| Err(error::of_panic(&*panic)));
            if let Err(e) = result {
                let mut first = first.lock().unwrap_or_else(|p| p.into_inner());
                // `Cancelled` may only be the echo of another worker's failure.
                if first.as_ref().is_none_or(|f| f.code() == Code::Cancelled) {
                    *first = Some(e);
                }
                failed.store(true, Ordering::Relaxed);
            }
        };
        match workers {
            0 => {}
            1 => one(0),
            n => self.threads.run(n, &one),
        }
        first.into_inner().unwrap_or_else(|p| p.into_inner()).map_or(Ok(()), Err)
    }
}

#[cfg(test)]
mod tests {
    use super::super::RealThreads;
    use super::*;

    #[test]
    fn runs_every_task_once_and_returns_the_first_failure() {
        let cancel = Cancel::default();
        let crew = Crew { threads: &RealThreads, workers: 3, cancel: &cancel };
        let seen: Vec<AtomicUsize> = (0..100).map(|_| AtomicUsize::new(0)).collect();
        crew.each(100, |_, n| {
            seen[n].fetch_add(1, Ordering::Relaxed);
            Ok(())
        })
        .unwrap();
        assert!(seen.iter().all(|s| s.load(Ordering::Relaxed) == 1));
        let error = crew.each(100, |_, n| if n == 7 { panic!("seven") } else { Ok(()) }).unwrap_err();
        assert_eq!(error.code(), Code::Internal);
        cancel.set();
        assert_eq!(crew.each(5, |_, _| Ok(())).unwrap_err().code(), Code::Cancelled);
    }
}
