//! Processors that all runnable tasks share equally.
//!
//! Each of `n` runnable tasks advances at the rate min(1, m / n). All rates are equal, so one virtual clock
//! serves all: a task ends when the clock has advanced by its milliseconds, and the earliest end is the top of
//! a heap.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Milliseconds over which the number of busy processors is averaged for the change of processor time with load.
const AVERAGE_MS: f64 = 500.0;
/// Limits of that change: a measurement at low load supports no more.
const STRETCH: (f64, f64) = (0.5, 2.0);

/// Work that changes with the number of busy processors.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stretch {
    pub per_busy: f64,
    /// Busy processors at which the demands were measured.
    pub measured_at: f64,
}

/// Station of processors.
pub struct Processors {
    count: f64,
    stretch: Option<Stretch>,
    busy_mean: f64,
    clock: f64,
    rate: f64,
    /// End on the virtual clock, in bits so that it can be ordered, and the task.
    tasks: BinaryHeap<Reverse<(u64, u32)>>,
    stopped: bool,
}

impl Processors {
    pub fn new(count: f64, stretch: Option<Stretch>) -> Self {
        let busy_mean = stretch.map_or(0.0, |stretch| stretch.measured_at);
        Processors { count, stretch, busy_mean, clock: 0.0, rate: 1.0, tasks: BinaryHeap::new(), stopped: false }
    }

    /// Adds a task that needs this many milliseconds.
    pub fn push(&mut self, task: u32, ms: f64) {
        self.tasks.push(Reverse(((self.clock + ms).to_bits(), task)));
        self.set_rate();
    }

    /// Removes the task that ends first.
    pub fn pop(&mut self) -> Option<u32> {
        let Reverse((end, task)) = self.tasks.pop()?;
        self.clock = self.clock.max(f64::from_bits(end));
        self.set_rate();
        Some(task)
    }

    /// Returns the milliseconds until the first task ends; infinite if none runs.
    pub fn next_end(&self) -> f64 {
        match self.tasks.peek() {
            Some(Reverse((end, _))) if !self.stopped => (f64::from_bits(*end) - self.clock).max(0.0) / self.rate,
            _ => f64::INFINITY,
        }
    }

    /// Lets time pass.
    pub fn advance(&mut self, ms: f64) {
        if !self.stopped {
            self.clock += ms * self.rate;
        }
        if self.stretch.is_some() {
            self.busy_mean += (self.busy() - self.busy_mean) * ms / (AVERAGE_MS + ms);
            self.set_rate();
        }
    }

    /// Stops all tasks, or lets them go on.
    pub fn set_stopped(&mut self, stopped: bool) {
        self.stopped = stopped;
    }

    /// Returns the processors that run tasks now.
    pub fn busy(&self) -> f64 {
        if self.stopped { 0.0 } else { self.count.min(self.tasks.len() as f64) }
    }

    fn set_rate(&mut self) {
        let share = (self.count / self.tasks.len().max(1) as f64).min(1.0);
        self.rate = match self.stretch {
            None => share,
            Some(stretch) => {
                let by = 1.0 + stretch.per_busy * (self.busy_mean - stretch.measured_at);
                share / by.clamp(STRETCH.0, STRETCH.1)
            }
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tasks_share_the_processors_equally() {
        let mut processors = Processors::new(1.0, None);
        processors.push(0, 10.0);
        processors.push(1, 20.0);
        // Both at half speed: the short one ends at 20, the long one then has 10 left at full speed.
        assert_eq!(processors.next_end(), 20.0);
        processors.advance(20.0);
        assert_eq!(processors.pop(), Some(0));
        assert_eq!(processors.next_end(), 10.0);
        processors.set_stopped(true);
        assert_eq!((processors.next_end(), processors.busy()), (f64::INFINITY, 0.0));
        processors.advance(100.0);
        processors.set_stopped(false);
        assert_eq!(processors.next_end(), 10.0);
    }

    #[test]
    fn work_stretches_with_busy_processors_within_limits() {
        let stretch = Stretch { per_busy: -0.1, measured_at: 0.0 };
        let mut processors = Processors::new(4.0, Some(stretch));
        (0..4).for_each(|task| processors.push(task, 1e9));
        (0..10_000).for_each(|_| processors.advance(1.0));
        processors.push(9, 0.0);
        assert_eq!(processors.pop(), Some(9));
        assert!((processors.rate - 1.0 / 0.6).abs() < 0.01, "{}", processors.rate);
        let mut processors = Processors::new(1000.0, Some(stretch));
        (0..1000).for_each(|task| processors.push(task, 1e9));
        (0..10_000).for_each(|_| processors.advance(1.0));
        assert_eq!(processors.rate, 2.0);
    }
}
