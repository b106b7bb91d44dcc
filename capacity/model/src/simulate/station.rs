//! Station whose units are held by tasks, with its queue: first come, first served.

use std::collections::VecDeque;

/// Station at a moment of the simulation.
pub struct Station {
    /// Absent: no limit.
    units: Option<u32>,
    in_use: u32,
    /// Tasks that share the station. Nobody else has it then.
    sharing: u32,
    /// Tasks that wait, and whether they share.
    queue: VecDeque<(u32, bool)>,
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
            sharing: 0,
            queue: VecDeque::new(),
            holder: None,
            changed_ms: 0.0,
            in_use_area: 0.0,
            queue_area: 0.0,
        }
    }

    /// Takes a unit for a task, or queues the task and returns false.
    pub fn take(&mut self, task: u32, is_shared: bool, now: f64) -> bool {
        self.sum(now);
        // A reader behind a waiting writer waits too.
        if is_shared && !self.queue.is_empty() || !self.is_free(is_shared) {
            self.queue.push_back((task, is_shared));
            return false;
        }
        self.add(task, is_shared);
        true
    }

    fn is_free(&self, is_shared: bool) -> bool {
        if is_shared {
            self.in_use == 0
        } else {
            self.sharing == 0 && self.units.is_none_or(|units| self.in_use < units)
        }
    }

    fn add(&mut self, task: u32, is_shared: bool) {
        if is_shared {
            self.sharing += 1;
        } else {
            self.in_use += 1;
            self.holder = Some(task);
        }
    }

    /// Gives a unit back.
    pub fn give(&mut self, is_shared: bool, now: f64) {
        self.sum(now);
        if is_shared {
            self.sharing -= 1;
        } else {
            self.in_use -= 1;
            self.holder = None;
        }
    }

    /// Returns the next task of the queue if it can have the station now, and has it.
    pub fn grant(&mut self) -> Option<u32> {
        let (task, is_shared) = *self.queue.front()?;
        if !self.is_free(is_shared) {
            return None;
        }
        self.queue.pop_front();
        self.add(task, is_shared);
        Some(task)
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
        self.in_use_area += f64::from(self.in_use + self.sharing.min(1)) * ms;
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
        let give = |station: &mut Station, now| {
            station.give(false, now);
            station.grant()
        };
        assert!(station.take(7, false, 0.0));
        assert!(!station.take(8, false, 1.0) && !station.take(9, false, 2.0));
        assert_eq!((give(&mut station, 4.0), station.holder, station.queued()), (Some(8), Some(8), 1));
        assert_eq!((give(&mut station, 5.0), give(&mut station, 6.0)), (Some(9), None));
        assert_eq!(station.areas(10.0), (6.0, 1.0 + 2.0 * 2.0 + 1.0));
        station.reset(10.0);
        assert_eq!(station.areas(20.0), (0.0, 0.0));
        let mut free = Station::new(None);
        assert!((0..1000).all(|task| free.take(task, false, 0.0)));
    }

    #[test]
    fn readers_share_and_writers_are_alone() {
        let mut station = Station::new(Some(1));
        assert!(station.take(1, true, 0.0) && station.take(2, true, 1.0));
        // A writer waits for both, and a reader behind it.
        assert!(!station.take(3, false, 2.0) && !station.take(4, true, 3.0) && !station.take(5, true, 3.0));
        station.give(true, 4.0);
        assert_eq!(station.grant(), None);
        station.give(true, 5.0);
        assert_eq!((station.grant(), station.grant(), station.holder), (Some(3), None, Some(3)));
        station.give(false, 7.0);
        assert_eq!((station.grant(), station.grant(), station.grant()), (Some(4), Some(5), None));
        assert_eq!(station.areas(8.0).0, 8.0);
    }
}
