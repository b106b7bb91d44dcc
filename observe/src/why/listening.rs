//! Queues of connections that a process has not accepted yet: how long they became while it was looked at, and how often somebody was turned away.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use yunti_probe::kernel::system::sock_diag;
use yunti_probe::target::Process;
use yunti_probe::target::ports::{in_network_of, queues};

const EVERY: Duration = Duration::from_millis(500);

/// Of all sockets of the process that listen at a port.
#[derive(Clone, Debug, Default)]
pub struct Queue {
    pub port: u16,
    /// The longest that was seen; one that is full in bursts may never be seen so.
    pub longest: u64,
    /// Counted by the kernel; `None`: it does not tell us.
    pub turned_away: Option<u64>,
}

#[derive(Default)]
pub struct Listening {
    looked: Option<Instant>,
    /// By inode: the port, and what has been dropped: before, and until now.
    dropped: HashMap<u64, (u16, u32, u32)>,
    longest: HashMap<u16, u64>,
}

impl Listening {
    pub fn keep_up(&mut self, process: &Process) {
        if self.looked.is_some_and(|at| at.elapsed() < EVERY) {
            return;
        }
        self.look(process);
    }

    fn look(&mut self, process: &Process) {
        let is_first = self.looked.is_none();
        self.looked = Some(Instant::now());
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
                self.dropped.entry(inode).or_insert((socket.local.1, before, 0)).2 = socket.drops;
            }
        }
    }

    pub fn queues(mut self, process: &Process) -> Vec<Queue> {
        self.look(process);
        let of = |(port, longest): (&u16, &u64)| {
            let dropped: Vec<_> = self.dropped.values().filter(|(at, ..)| at == port).collect();
            let turned_away = dropped.iter().map(|(_, before, now)| u64::from(now.wrapping_sub(*before))).sum();
            Queue { port: *port, longest: *longest, turned_away: (!dropped.is_empty()).then_some(turned_away) }
        };
        self.longest.iter().map(of).collect()
    }
}
