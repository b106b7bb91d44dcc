//! A crew: workers that take numbered tasks from one queue until all are done or one fails.
//!
//! A panic in a task becomes an error of that task; the first error stops the others at their next task and is the result.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use super::Threads;
use yunti_base::{Cancel, Code, Error, Result, error};

/// Says that another worker of the crew has failed.
pub type Stop<'a> = &'a (dyn Fn() -> bool + Sync);

pub struct Crew<'a> {
    pub threads: &'a dyn Threads,
    pub workers: usize,
    pub cancel: &'a Cancel,
}

impl Crew<'_> {
    /// Runs `task(worker, number)` for each number in `0..tasks`; numbers are taken in ascending order.
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

    /// Runs `body(worker, stop)` once on each of `workers` workers; `stop()` says that another one has failed.
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
                // A cancelled task is only the echo of another's failure, where there is one.
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
    use super::super::threads::RealThreads;
    use super::*;

    #[test]
    fn every_task_once_and_the_first_failure_wins() {
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
