//! Processors that run tasks in turns: each runs for a slice, and then at the end of the queue again.
//!
//! This is how Linux schedules tasks of equal weight (EEVDF): one that wakes waits until a running one has used its
//! slice. So a request with many short stretches of work waits at each of them, and the curve bends long before its
//! peak. With equal shares instead, short stretches would wait for nothing.

use std::collections::VecDeque;

use crate::demands::Growth;

/// Milliseconds that a task may run at least before another one gets its processor: the base slice of few processors.
const SLICE_MS: f64 = 1.4;
/// Milliseconds between two ticks, at which a slice ends: most kernels have 250 a second.
const TICK_MS: f64 = 4.0;
/// Milliseconds over which the number of busy processors is averaged for the change of processor time with load.
const AVERAGE_MS: f64 = 500.0;
/// Limits of that change: a measurement at low load supports no more.
const STRETCH: (f64, f64) = (0.5, 2.0);

/// Limits of the change with the requests in process, which is clear if there is one.
const GROWTH: (f64, f64) = (0.1, 20.0);

/// Work that changes with the number of busy processors, and with the requests in process.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stretch {
    pub per_busy: f64,
    /// Busy processors at which the demands were measured.
    pub measured_at: f64,
    pub growth: Growth,
}

/// Task on a processor.
#[derive(Clone, Copy, Debug)]
struct Running {
    task: u32,
    left_ms: f64,
    slice_ms: f64,
}

/// Station of processors.
pub struct Processors {
    count: f64,
    stretch: Option<Stretch>,
    busy_mean: f64,
    requests: u32,
    /// Work that a processor does in a millisecond.
    rate: f64,
    running: Vec<Running>,
    /// Tasks that wait, with the milliseconds that they need.
    waiting: VecDeque<(u32, f64)>,
    /// Phases of ticks.
    random: fastrand::Rng,
    stopped: bool,
}

impl Processors {
    pub fn new(count: f64, stretch: Option<Stretch>) -> Self {
        let busy_mean = stretch.map_or(0.0, |stretch| stretch.measured_at);
        let (running, waiting) = (Vec::new(), VecDeque::new());
        let random = fastrand::Rng::with_seed(1);
        let requests = stretch.map_or(0.0, |stretch| stretch.growth.at_requests).round() as u32;
        let mut new =
            Processors { count, stretch, busy_mean, requests, rate: 1.0, running, waiting, random, stopped: false };
        new.set_rate();
        new
    }

    /// Returns the number of tasks that run at a time. A part of a processor is a slower one.
    fn places(&self) -> usize {
        self.count.ceil().max(1.0) as usize
    }

    /// Adds a task that needs this many milliseconds.
    pub fn push(&mut self, task: u32, ms: f64) {
        if self.running.len() < self.places() {
            let slice_ms = self.slice_ms();
            self.running.push(Running { task, left_ms: ms, slice_ms });
        } else {
            self.waiting.push_back((task, ms));
        }
        self.set_rate();
    }

    /// Returns the milliseconds until a task must share its processor.
    fn slice_ms(&mut self) -> f64 {
        SLICE_MS + TICK_MS * self.random.f64()
    }

    /// Takes the event that is due: returns a task that has ended, or gives a processor to the next one in turn.
    pub fn pop(&mut self) -> Option<u32> {
        let at = (0..self.running.len()).min_by(|a, b| self.due(*a).total_cmp(&self.due(*b)))?;
        let one = self.running[at];
        let has_ended = one.left_ms <= one.slice_ms || self.waiting.is_empty();
        match self.waiting.pop_front() {
            Some((task, left_ms)) => {
                self.running[at] = Running { task, left_ms, slice_ms: self.slice_ms() };
                if !has_ended {
                    self.waiting.push_back((one.task, one.left_ms));
                }
            }
            None => {
                self.running.swap_remove(at);
            }
        }
        self.set_rate();
        has_ended.then_some(one.task)
    }

    /// Returns the work until a task ends, or has used its slice while others wait.
    fn due(&self, at: usize) -> f64 {
        let one = &self.running[at];
        if self.waiting.is_empty() { one.left_ms } else { one.left_ms.min(one.slice_ms) }
    }

    /// Returns the milliseconds until the next event; infinite if none runs.
    pub fn next_end(&self) -> f64 {
        if self.stopped {
            return f64::INFINITY;
        }
        (0..self.running.len()).map(|at| self.due(at)).fold(f64::INFINITY, f64::min).max(0.0) / self.rate
    }

    /// Lets time pass.
    pub fn advance(&mut self, ms: f64) {
        if !self.stopped {
            for one in &mut self.running {
                one.left_ms -= ms * self.rate;
                // A task that comes later waits for what is left of the slice, or for the next tick.
                one.slice_ms -= ms * self.rate;
                if one.slice_ms < 0.0 && self.waiting.is_empty() {
                    one.slice_ms += TICK_MS * (-one.slice_ms / TICK_MS).ceil();
                }
            }
        }
        if self.stretch.is_some() {
            self.busy_mean += (self.busy() - self.busy_mean) * ms / (AVERAGE_MS + ms);
            self.set_rate();
        }
    }

    /// Sets the number of requests in process.
    pub fn set_requests(&mut self, requests: u32) {
        self.requests = requests;
        if self.stretch.is_some() {
            self.set_rate();
        }
    }

    pub fn is_stopped(&self) -> bool {
        self.stopped
    }

    /// Stops all tasks, or lets them go on.
    pub fn set_stopped(&mut self, stopped: bool) {
        self.stopped = stopped;
    }

    /// Returns the processors that run tasks now.
    pub fn busy(&self) -> f64 {
        if self.stopped { 0.0 } else { self.count.min(self.running.len() as f64) }
    }

    fn set_rate(&mut self) {
        let share = (self.count / self.running.len().max(1) as f64).min(1.0);
        self.rate = match self.stretch {
            None => share,
            Some(stretch) => {
                let by = 1.0 + stretch.per_busy * (self.busy_mean - stretch.measured_at);
                let Growth { per_request, at_requests, .. } = stretch.growth;
                let grown = 1.0 + per_request * (f64::from(self.requests) - at_requests);
                share / by.clamp(STRETCH.0, STRETCH.1) / grown.clamp(GROWTH.0, GROWTH.1)
            }
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tasks_run_in_turns() {
        let mut processors = Processors::new(1.0, None);
        processors.push(0, 6.0);
        processors.push(1, 1.0);
        // The short one waits for a slice of the long one.
        let slice = processors.next_end();
        assert!((SLICE_MS..SLICE_MS + TICK_MS).contains(&slice), "{slice}");
        processors.advance(slice);
        assert_eq!((processors.pop(), processors.next_end()), (None, 1.0));
        processors.advance(1.0);
        assert_eq!(processors.pop(), Some(1));
        assert!((processors.next_end() - (6.0 - slice)).abs() < 1e-9);
        processors.set_stopped(true);
        assert_eq!((processors.next_end(), processors.busy()), (f64::INFINITY, 0.0));
        processors.advance(100.0);
        processors.set_stopped(false);
        processors.advance(6.0 - slice);
        assert_eq!((processors.pop(), processors.busy()), (Some(0), 0.0));
    }

    #[test]
    fn a_part_of_a_processor_is_slower() {
        let mut processors = Processors::new(1.5, None);
        processors.push(0, 3.0);
        assert_eq!(processors.next_end(), 3.0);
        processors.push(1, 3.0);
        assert_eq!((processors.next_end(), processors.busy()), (4.0, 1.5));
    }

    #[test]
    fn work_stretches_with_busy_processors_within_limits() {
        let stretch = Stretch { per_busy: -0.1, measured_at: 0.0, growth: Growth::default() };
        let mut processors = Processors::new(4.0, Some(stretch));
        (0..4).for_each(|task| processors.push(task, 1e9));
        (0..10_000).for_each(|_| processors.advance(1.0));
        assert!((processors.rate - 1.0 / 0.6).abs() < 0.01, "{}", processors.rate);
        let mut processors = Processors::new(1000.0, Some(stretch));
        (0..1000).for_each(|task| processors.push(task, 1e9));
        (0..10_000).for_each(|_| processors.advance(1.0));
        assert_eq!(processors.rate, 2.0);
    }

    #[test]
    fn work_grows_with_requests_in_process() {
        let growth = Growth { per_request: 0.1, se: 0.0, at_requests: 2.0 };
        let mut processors = Processors::new(2.0, Some(Stretch { per_busy: 0.0, measured_at: 1.0, growth }));
        processors.push(0, 10.0);
        assert_eq!(processors.next_end(), 10.0);
        processors.set_requests(12);
        assert!((processors.next_end() - 20.0).abs() < 1e-9);
    }
}
