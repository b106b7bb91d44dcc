//! Accept queues of a process: their greatest length during the measurement, and their overflows.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use yunti_probe::target::{Process, listeners};

const EVERY: Duration = Duration::from_millis(500);

/// Accept queues of all sockets of the process that listen on a port.
#[derive(Clone, Debug, Default)]
pub struct Queue {
    pub port: u16,
    /// Greatest sampled length. Samples may miss short bursts.
    pub longest: u64,
    /// Dropped connections, counted by the kernel; `None` if it reports no count.
    pub dropped: Option<u64>,
}

/// Sampler of accept queues.
#[derive(Default)]
pub struct QueueSampler {
    sampled_at: Option<Instant>,
    /// Inode -> port, and drops: before the measurement, and until now.
    drops: HashMap<u64, (u16, u32, u32)>,
    longest: HashMap<u16, u64>,
}

impl QueueSampler {
    pub fn keep_up(&mut self, process: &Process) {
        if self.sampled_at.is_some_and(|at| at.elapsed() < EVERY) {
            return;
        }
        self.sample(process);
    }

    fn sample(&mut self, process: &Process) {
        let is_first = self.sampled_at.is_none();
        self.sampled_at = Some(Instant::now());
        for listener in listeners(process) {
            let longest = self.longest.entry(listener.port).or_default();
            *longest = (*longest).max(listener.queued);
            if let Some(drops) = listener.drops {
                let before = if is_first { drops } else { 0 };
                self.drops.entry(listener.inode).or_insert((listener.port, before, 0)).2 = drops;
            }
        }
    }

    pub fn queues(mut self, process: &Process) -> Vec<Queue> {
        self.sample(process);
        let of = |(port, longest): (&u16, &u64)| {
            let drops: Vec<_> = self.drops.values().filter(|(at, ..)| at == port).collect();
            let dropped = drops.iter().map(|(_, before, now)| u64::from(now.wrapping_sub(*before))).sum();
            Queue { port: *port, longest: *longest, dropped: (!drops.is_empty()).then_some(dropped) }
        };
        self.longest.iter().map(of).collect()
    }
}
