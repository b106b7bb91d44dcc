//! Accept queues of a process: their greatest length during the measurement, and their overflows.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use yunti_probe::netlink::sock_diag;
use yunti_probe::target::Process;
use yunti_probe::target::in_network_of;
use yunti_probe::target::ports::queues;

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
        let own = queues(process);
        if own.is_empty() {
            return;
        }
        for listener in &own {
            let longest = self.longest.entry(listener.port).or_default();
            *longest = (*longest).max(listener.queued);
        }
        let sockets = in_network_of(process, || sock_diag::sockets(sock_diag::LISTEN).ok()).flatten();
        for socket in sockets.unwrap_or_default() {
            let inode = u64::from(socket.inode);
            if own.iter().any(|listener| listener.inode == inode) {
                let before = if is_first { socket.drops } else { 0 };
                self.drops.entry(inode).or_insert((socket.local.1, before, 0)).2 = socket.drops;
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
