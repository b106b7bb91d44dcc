//! Station whose units are held by tasks, with its queue: first come, first served.

use std::collections::VecDeque;

/// Station at a moment of the simulation.
pub struct Station {
    /// Absent: no limit.
    units: Option<u32>,
    in_use: u32,
    queue: VecDeque<u32>,
    /// Task that holds the only unit, to find circles of waiting tasks.
    pub holder: Option<u32>,
    changed_ms: f64,
    in_use_area: f64,
    queue_area: f64,
}

impl Station {
    pub fn new(units: Option<u32>) -> Self {
        Station {
            units,
            in_use: 0,
            queue: VecDeque::new(),
            holder: None,
            changed_ms: 0.0,
            in_use_area: 0.0,
            queue_area: 0.0,
        }
    }

    /// Takes a unit for a task, or queues the task and returns false.
    pub fn take(&mut self, task: u32, now: f64) -> bool {
        self.sum(now);
        if self.units.is_some_and(|units| self.in_use >= units) {
            self.queue.push_back(task);
            return false;
        }
        self.in_use += 1;
        self.holder = Some(task);
        true
    }

    /// Gives a unit back. Returns the task that receives it.
    pub fn give(&mut self, now: f64) -> Option<u32> {
        self.sum(now);
        self.holder = self.queue.pop_front();
        if self.holder.is_none() {
            self.in_use -= 1;
        }
        self.holder
    }

    /// Returns whether one task at most can hold the station.
    pub fn is_single(&self) -> bool {
        self.units == Some(1)
    }

    pub fn units(&self) -> Option<u32> {
        self.units
    }

    /// Returns the number of tasks that wait.
    pub fn queued(&self) -> usize {
        self.queue.len()
    }

    /// Forgets what was summed.
    pub fn reset(&mut self, now: f64) {
        (self.changed_ms, self.in_use_area, self.queue_area) = (now, 0.0, 0.0);
    }

    /// Returns the sums over time of units in use and of waiting tasks.
    pub fn areas(&mut self, now: f64) -> (f64, f64) {
        self.sum(now);
        (self.in_use_area, self.queue_area)
    }

    fn sum(&mut self, now: f64) {
        let ms = now - self.changed_ms;
        self.in_use_area += f64::from(self.in_use) * ms;
        self.queue_area += self.queue.len() as f64 * ms;
        self.changed_ms = now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_go_to_waiters_in_order() {
        let mut station = Station::new(Some(1));
        assert!(station.take(7, 0.0));
        assert!(!station.take(8, 1.0) && !station.take(9, 2.0));
        assert_eq!((station.give(4.0), station.holder, station.queued()), (Some(8), Some(8), 1));
        assert_eq!((station.give(5.0), station.give(6.0)), (Some(9), None));
        assert_eq!(station.areas(10.0), (6.0, 1.0 + 2.0 * 2.0 + 1.0));
        station.reset(10.0);
        assert_eq!(station.areas(20.0), (0.0, 0.0));
        let mut free = Station::new(None);
        assert!((0..1000).all(|task| free.take(task, 0.0)));
    }
}
