//! Queues of connections that wait to be accepted: how long they were, how long they may be, and who was turned away.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs;
use std::net::IpAddr;

use yunti_probe::kernel::system::sock_diag::Socket;
use yunti_probe::target::{Process, label, processes};

#[derive(Clone, Debug)]
pub struct Queue {
    pub address: IpAddr,
    pub port: u16,
    inode: u32,
    /// The longest that was seen, and how long it may be.
    pub longest: u32,
    pub max: u32,
    drops_before: u32,
    drops: u32,
    pub processes: Vec<String>,
}

impl Queue {
    /// Connections, or what would have made one, that were turned away meanwhile.
    pub fn turned_away(&self) -> u32 {
        self.drops.wrapping_sub(self.drops_before)
    }
}

#[derive(Default)]
pub struct Queues {
    by_inode: BTreeMap<u32, Queue>,
}

impl Queues {
    /// @param is_first drops until now are not of this look
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

    /// With the processes that have them, the fullest first.
    pub fn end(self) -> Vec<Queue> {
        let mut queues: Vec<Queue> = self.by_inode.into_values().collect();
        let wanted: HashSet<u32> = queues.iter().map(|queue| queue.inode).collect();
        let mut holders = holders(&wanted);
        for queue in &mut queues {
            queue.processes = holders.remove(&queue.inode).unwrap_or_default();
        }
        queues.sort_by_key(|queue| (std::cmp::Reverse((queue.turned_away(), queue.longest)), queue.port));
        queues
    }
}

/// Who has these sockets open.
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

/// `socket:[4711]`
fn inode_of(link: &std::path::Path) -> Option<u32> {
    link.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?.parse().ok()
}
