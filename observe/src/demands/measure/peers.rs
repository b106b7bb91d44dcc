//! Remote ends of a process's descriptors, and the processes behind its connections on this machine.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::time::{Duration, Instant};

use yunti_base::Result;
use yunti_probe::kernel::system::tcp_info::TcpReader;
use yunti_probe::netlink::sock_diag::{Address, ESTABLISHED, LISTEN};
use yunti_probe::target::{Process, sockets_of};

use crate::why::requests::{address_text, owners};

/// Time for which the table of connections is taken for true.
const FRESH: Duration = Duration::from_millis(500);

/// Both ends of a connection.
#[derive(Clone, Copy, Debug)]
struct Ends {
    local: Address,
    remote: Address,
}

/// Connections of a process, by descriptor. Remote ends have numbers.
pub struct Peers {
    process: Process,
    reader: TcpReader,
    read_at: Option<Instant>,
    /// Connections of the process's network by inode, also ended ones.
    connections: HashMap<u32, Ends>,
    listening: HashSet<u16>,
    by_descriptor: HashMap<u32, (u16, Instant)>,
    numbers: HashMap<Address, u16>,
    names: Vec<String>,
}

impl Peers {
    /// Number of all clients.
    pub const CLIENTS: u16 = 0;

    pub fn new(process: &Process) -> Result<Peers> {
        Ok(Peers {
            process: process.clone(),
            reader: TcpReader::open(process)?,
            read_at: None,
            connections: HashMap::new(),
            listening: HashSet::new(),
            by_descriptor: HashMap::new(),
            numbers: HashMap::new(),
            names: vec!["clients".to_owned()],
        })
    }

    /// Returns the remote end of a descriptor; `None` if it is no connection, or has ended.
    pub fn of(&mut self, descriptor: u32) -> Option<u16> {
        if let Some((peer, at)) = self.by_descriptor.get(&descriptor)
            && at.elapsed() < FRESH
        {
            return Some(*peer);
        }
        let link = fs::read_link(format!("/proc/{}/fd/{descriptor}", self.process.pid)).ok()?;
        let inode = link.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?.parse().ok()?;
        self.keep_fresh();
        let ends = *self.connections.get(&inode)?;
        let peer = if self.listening.contains(&ends.local.1) { Peers::CLIENTS } else { self.number(ends.remote) };
        self.by_descriptor.insert(descriptor, (peer, Instant::now()));
        Some(peer)
    }

    fn number(&mut self, address: Address) -> u16 {
        let (names, next) = (&mut self.names, self.numbers.len() + 1);
        *self.numbers.entry(address).or_insert_with(|| match u16::try_from(next) {
            Ok(number) => {
                names.push(address_text(address));
                number
            }
            Err(_) => u16::MAX,
        })
    }

    /// Reads the table of connections, unless it was read a moment ago.
    pub fn keep_fresh(&mut self) {
        if self.read_at.is_some_and(|at| at.elapsed() < FRESH) {
            return;
        }
        self.read_at = Some(Instant::now());
        let (listening, connections) = (&mut self.listening, &mut self.connections);
        listening.clear();
        // Without the table, the remote ends that are known stay.
        let _ = self.reader.all(ESTABLISHED | LISTEN, |one| {
            if one.state == LISTEN {
                listening.insert(one.local.1);
            } else {
                connections.insert(one.inode, Ends { local: one.local, remote: one.peer });
            }
        });
    }

    /// Returns the processor seconds of the processes at the other ends of this one's connections.
    ///
    /// @param by_process processor seconds of each process
    pub fn seconds(&self, by_process: &HashMap<u32, f64>) -> f64 {
        let own = sockets_of(&self.process);
        let is_own = |inode: u32| own.contains(&u64::from(inode));
        let of_own = self.connections.iter().filter(|(inode, _)| is_own(**inode));
        let others: HashSet<(Address, Address)> = of_own.map(|(_, ends)| (ends.remote, ends.local)).collect();
        let is_other_end = |inode: u32, ends: &Ends| others.contains(&(ends.local, ends.remote)) && !is_own(inode);
        let found = self.connections.iter().filter(|(inode, ends)| is_other_end(**inode, ends));
        let inodes: Vec<u32> = found.map(|(inode, _)| *inode).collect();
        let pids: HashSet<u32> = owners(&inodes).into_values().filter(|pid| *pid != self.process.pid).collect();
        pids.iter().filter_map(|pid| by_process.get(pid)).sum()
    }

    /// Returns the names of the remote ends by their numbers.
    pub fn into_names(self) -> Vec<String> {
        self.names
    }
}

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, TcpStream};
    use std::os::fd::AsRawFd;

    use super::*;

    #[test]
    fn remote_ends_of_descriptors() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let called = TcpStream::connect(address).unwrap();
        let (accepted, _) = listener.accept().unwrap();
        let mut peers = Peers::new(&Process::own()).unwrap();
        assert_eq!(peers.of(accepted.as_raw_fd() as u32), Some(Peers::CLIENTS));
        // Without its listener, a port is one that the process calls.
        peers.keep_fresh();
        peers.listening.clear();
        assert_eq!(peers.of(called.as_raw_fd() as u32), Some(1));
        assert_eq!(peers.of(listener.as_raw_fd() as u32), None);
        assert_eq!(peers.into_names(), ["clients".to_owned(), address.to_string()]);
    }
}
