//! Remote ends of a process's descriptors, and the processes behind its connections on this machine.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::fs;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::{Duration, Instant};

use yunti_probe::target::{Process, sockets_of};

use crate::why::requests::owners;

/// Time for which the table of connections is taken for true.
const FRESH: Duration = Duration::from_millis(500);
/// State of an established connection, and of a listening socket, in /proc/net/tcp.
const ESTABLISHED: &str = "01";
const LISTENING: &str = "0A";

/// Remote end of a connection.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Peer {
    /// A server that the process calls.
    Called(SocketAddr),
    /// A client of the process.
    Client,
}

impl fmt::Display for Peer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Peer::Called(address) => write!(f, "{address}"),
            Peer::Client => f.write_str("clients"),
        }
    }
}

#[derive(Clone, Copy, Debug)]
struct Connection {
    local: SocketAddr,
    remote: SocketAddr,
    inode: u64,
    is_listening: bool,
}

/// Connections of a process, by descriptor.
pub struct Peers {
    process: Process,
    read_at: Option<Instant>,
    connections: HashMap<u64, Connection>,
    listening: HashSet<u16>,
    by_descriptor: HashMap<u32, (Peer, Instant)>,
}

impl Peers {
    pub fn new(process: &Process) -> Peers {
        Peers {
            process: process.clone(),
            read_at: None,
            connections: HashMap::new(),
            listening: HashSet::new(),
            by_descriptor: HashMap::new(),
        }
    }

    /// Returns the remote end of a descriptor; `None` if it is no connection, or has ended.
    pub fn of(&mut self, descriptor: u32) -> Option<Peer> {
        if let Some((peer, at)) = self.by_descriptor.get(&descriptor)
            && at.elapsed() < FRESH
        {
            return Some(peer.clone());
        }
        let link = fs::read_link(format!("/proc/{}/fd/{descriptor}", self.process.pid)).ok()?;
        let inode: u64 = link.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?.parse().ok()?;
        self.keep_fresh();
        let connection = self.connections.get(&inode)?;
        let is_client = self.listening.contains(&connection.local.port());
        let peer = if is_client { Peer::Client } else { Peer::Called(connection.remote) };
        self.by_descriptor.insert(descriptor, (peer.clone(), Instant::now()));
        Some(peer)
    }

    /// Reads the table of connections, unless it was read a moment ago.
    pub fn keep_fresh(&mut self) {
        if self.read_at.is_some_and(|at| at.elapsed() < FRESH) {
            return;
        }
        self.read_at = Some(Instant::now());
        let all: Vec<Connection> = ["tcp", "tcp6"]
            .iter()
            .filter_map(|table| fs::read_to_string(format!("/proc/{}/net/{table}", self.process.pid)).ok())
            .flat_map(|text| text.lines().skip(1).filter_map(connection).collect::<Vec<_>>())
            .collect();
        self.listening = all.iter().filter(|one| one.is_listening).map(|one| one.local.port()).collect();
        self.connections.extend(all.into_iter().filter(|one| !one.is_listening).map(|one| (one.inode, one)));
    }

    /// Returns the processor seconds of the processes at the other ends of this one's connections.
    ///
    /// @param by_process processor seconds of each process
    pub fn seconds(&self, by_process: &HashMap<u32, f64>) -> f64 {
        let own: HashSet<u64> = sockets_of(&self.process);
        let ends: HashSet<(SocketAddr, SocketAddr)> = self
            .connections
            .values()
            .filter(|one| own.contains(&one.inode))
            .map(|one| (one.remote, one.local))
            .collect();
        let others: Vec<u32> = self
            .connections
            .values()
            .filter(|one| ends.contains(&(one.local, one.remote)) && !own.contains(&one.inode))
            .filter_map(|one| u32::try_from(one.inode).ok())
            .collect();
        let pids: HashSet<u32> = owners(&others).into_values().filter(|pid| *pid != self.process.pid).collect();
        pids.iter().filter_map(|pid| by_process.get(pid)).sum()
    }
}

fn connection(line: &str) -> Option<Connection> {
    let fields: Vec<&str> = line.split_whitespace().collect();
    let is_listening = *fields.get(3)? == LISTENING;
    (is_listening || fields[3] == ESTABLISHED).then_some(())?;
    Some(Connection {
        local: address(fields[1])?,
        remote: address(fields[2])?,
        inode: fields.get(9)?.parse().ok()?,
        is_listening,
    })
}

/// Parses an address of /proc/net/tcp: words of the machine's byte order, and a port.
fn address(text: &str) -> Option<SocketAddr> {
    let (address, port) = text.split_once(':')?;
    let port = u16::from_str_radix(port, 16).ok()?;
    let word = |at: usize| u32::from_str_radix(address.get(at * 8..at * 8 + 8)?, 16).ok().map(u32::to_ne_bytes);
    let ip = if address.len() == 8 {
        IpAddr::V4(Ipv4Addr::from(word(0)?))
    } else {
        let mut bytes = [0; 16];
        for (i, part) in bytes.chunks_mut(4).enumerate() {
            part.copy_from_slice(&word(i)?);
        }
        Ipv6Addr::from(bytes).to_canonical()
    };
    Some(SocketAddr::new(ip, port))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_endian = "little")]
    fn addresses_of_the_kernel() {
        assert_eq!(address("0100007F:1F90"), Some("127.0.0.1:8080".parse().unwrap()));
        let mapped = "0000000000000000FFFF00000100007F:0050";
        assert_eq!(address(mapped), Some("127.0.0.1:80".parse().unwrap()));
        assert_eq!(address("x"), None);
        let line = "  1: 0100007F:1F90 0100007F:C000 01 00000000:00000000 00:00000000 00000000  0  0 4711 1 0";
        assert_eq!(connection(line).unwrap().inode, 4711);
    }
}
