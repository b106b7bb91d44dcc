//! Accept queues of listening sockets: longest length, limit, and refused connections.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs;
use std::net::IpAddr;

use yunti_probe::netlink::sock_diag::Socket;
use yunti_probe::target::{Process, label, processes};

/// Accept queue of one listening socket.
#[derive(Clone, Debug)]
pub struct Queue {
    /// Address that it listens at.
    pub address: IpAddr,
    /// Port that it listens at.
    pub port: u16,
    inode: u32,
    /// Longest length in this measurement.
    pub longest: u32,
    /// Limit.
    pub max: u32,
    drops_before: u32,
    drops: u32,
    /// Processes that hold the socket.
    pub processes: Vec<String>,
}

impl Queue {
    /// Returns the connections that were refused in this measurement.
    pub fn refused(&self) -> u32 {
        self.drops.wrapping_sub(self.drops_before)
    }
}

/// Accept queues by socket.
#[derive(Default)]
pub struct Queues {
    by_inode: BTreeMap<u32, Queue>,
}

impl Queues {
    /// Takes a reading. `is_first`: drops until now were before the measurement.
    pub fn take(&mut self, listening: &[Socket], is_first: bool) {
        for socket in listening {
            let queue = self.by_inode.entry(socket.inode).or_insert_with(|| Queue {
                address: socket.local.0,
                port: socket.local.1,
                inode: socket.inode,
                longest: 0,
                max: socket.queue_max,
                drops_before: if is_first { socket.drops } else { 0 },
                drops: socket.drops,
                processes: Vec::new(),
            });
            queue.longest = queue.longest.max(socket.queue);
            queue.max = socket.queue_max;
            queue.drops = socket.drops;
        }
    }

    /// Returns the queues with their processes, most refused connections first.
    pub fn end(self) -> Vec<Queue> {
        let mut queues: Vec<Queue> = self.by_inode.into_values().collect();
        let wanted: HashSet<u32> = queues.iter().map(|queue| queue.inode).collect();
        let mut holders = holders(&wanted);
        for queue in &mut queues {
            queue.processes = holders.remove(&queue.inode).unwrap_or_default();
        }
        queues.sort_by_key(|queue| (std::cmp::Reverse((queue.refused(), queue.longest)), queue.port));
        queues
    }
}

/// Processes that have these sockets open.
fn holders(wanted: &HashSet<u32>) -> HashMap<u32, Vec<String>> {
    let mut holders: HashMap<u32, Vec<String>> = HashMap::new();
    for pid in processes() {
        let entries = fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
        let sockets: HashSet<u32> = entries.filter_map(|entry| inode_of(&fs::read_link(entry.path()).ok()?)).collect();
        for inode in sockets.intersection(wanted) {
            if let Ok(process) = Process::of(pid) {
                holders.entry(*inode).or_default().push(format!("{} {pid}", label(&process)));
            }
        }
    }
    holders
}

/// Parses `socket:[4711]`.
fn inode_of(link: &std::path::Path) -> Option<u32> {
    link.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?.parse().ok()
}
