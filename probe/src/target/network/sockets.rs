//! Sockets of a process, by side: a thread that waits for a peer that the process called has a slow remote; one that
//! waits for a caller has an idle client.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::net::IpAddr;

use super::namespace::in_network_of;
use crate::netlink::sock_diag::{self, LISTEN, Socket, TIME_WAIT};
use crate::target::Process;

/// Connected socket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Connection {
    /// Address and port of the peer, such as `127.0.0.1:5432`.
    pub peer: String,
    /// True if the peer opened the connection: the local port is one that listens.
    pub is_accepted: bool,
}

/// Returns the connections of a process by inode.
pub fn connections(process: &Process) -> HashMap<u64, Connection> {
    let rows = rows(process, ALL, true);
    let listening: HashSet<u16> = rows.iter().filter(|row| row.state == LISTEN).map(|row| row.port).collect();
    let of = |row: Row| (row.inode, Connection { peer: row.peer, is_accepted: listening.contains(&row.port) });
    rows.into_iter().filter(|row| row.state != LISTEN).map(of).collect()
}

/// Listening socket of the process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listener {
    /// Port.
    pub port: u16,
    /// Connections in its accept queue.
    pub queued: u64,
    /// Connections dropped since it exists; `None` if the kernel does not tell.
    pub drops: Option<u32>,
    /// Inode.
    pub inode: u64,
}

/// Returns the listening sockets of a process.
pub fn listeners(process: &Process) -> Vec<Listener> {
    let own = sockets_of(process);
    let rows = rows(process, LISTEN, false).into_iter().filter(|row| own.contains(&row.inode));
    rows.map(|row| Listener { port: row.port, queued: row.received, drops: row.drops, inode: row.inode }).collect()
}

/// Local port and peer of a connection in the process's network namespace.
pub(in crate::target) struct LocalPort {
    /// Local port.
    pub port: u16,
    /// Address and port of the peer.
    pub peer: String,
    /// True in the state TIME_WAIT.
    pub is_time_wait: bool,
}

pub(in crate::target) fn local_ports(process: &Process) -> impl Iterator<Item = LocalPort> {
    rows(process, ALL & !LISTEN, false).into_iter().map(|row| LocalPort {
        port: row.port,
        is_time_wait: row.state == TIME_WAIT,
        peer: row.peer,
    })
}

/// Returns the sockets of the process's network namespace in one of `states`: TCP, and connected ones of UDP.
fn rows(process: &Process, states: u32, with_udp: bool) -> Vec<Row> {
    by_netlink(process, states, with_udp).unwrap_or_else(|| by_tables(process, states, with_udp))
}

/// Reads them by netlink, which passes over empty parts of the kernel's table of connections: its text in /proc takes
/// milliseconds even without a connection.
fn by_netlink(process: &Process, states: u32, with_udp: bool) -> Option<Vec<Row>> {
    let read = move || -> yunti_base::Result<Vec<Socket>> {
        let mut all = sock_diag::sockets(states)?;
        if with_udp {
            all.extend(sock_diag::connected_udp()?);
        }
        Ok(all)
    };
    let row = |one: Socket| Row {
        port: one.local.1,
        peer: match one.peer.0 {
            IpAddr::V4(v4) => format!("{v4}:{}", one.peer.1),
            IpAddr::V6(v6) => format!("[{v6}]:{}", one.peer.1),
        },
        state: one.state,
        received: one.queue.into(),
        drops: Some(one.drops),
        inode: one.inode.into(),
    };
    Some(in_network_of(process, read)?.ok()?.into_iter().map(row).collect())
}

fn by_tables(process: &Process, states: u32, with_udp: bool) -> Vec<Row> {
    // Resolvers connect UDP sockets.
    let tables = if with_udp { &["tcp", "tcp6", "udp", "udp6"][..] } else { &["tcp", "tcp6"][..] };
    let read = |table| fs::read_to_string(format!("/proc/{}/net/{table}", process.pid)).unwrap_or_default();
    let of = |text: String| text.lines().skip(1).filter_map(parsed).collect::<Vec<_>>();
    let all = tables.iter().map(read).flat_map(of);
    all.filter(|row| row.state & states != 0 && row.state != UNCONNECTED).collect()
}

/// Returns the inodes of a process's sockets.
pub fn sockets_of(process: &Process) -> HashSet<u64> {
    let entries = fs::read_dir(format!("/proc/{}/fd", process.pid)).into_iter().flatten().flatten();
    entries.filter_map(|entry| socket_of(process, entry.file_name().to_str()?.parse().ok()?)).collect()
}

/// All states of TCP.
const ALL: u32 = 0xfff;
/// TCP_CLOSE; for UDP, a socket without a peer.
const UNCONNECTED: u32 = 1 << 7;

struct Row {
    port: u16,
    peer: String,
    /// State, as one of the masks of sock_diag.
    state: u32,
    /// Bytes to read; of a listening socket, connections to accept.
    received: u64,
    drops: Option<u32>,
    inode: u64,
}

/// Parses `0: 0100007F:1F90 0100007F:A1B2 01 ..` of proc_pid_net(5); addresses are in native byte order.
fn parsed(line: &str) -> Option<Row> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let port = |address: &str| u16::from_str_radix(address.rsplit(':').next()?, 16).ok();
    let (hex, _) = words.get(2)?.split_once(':')?;
    let word = |at: usize| u32::from_str_radix(hex.get(at..at + 8)?, 16).ok().map(u32::to_le_bytes);
    let peer_port = port(words[2])?;
    let peer = match hex.len() {
        8 => std::net::Ipv4Addr::from(word(0)?).to_string(),
        _ => {
            let bytes: Vec<u8> = (0..4).filter_map(|i| word(i * 8)).flatten().collect();
            let address = std::net::Ipv6Addr::from(<[u8; 16]>::try_from(bytes).ok()?);
            address.to_ipv4_mapped().map_or_else(|| format!("[{address}]"), |v4| v4.to_string())
        }
    };
    Some(Row {
        port: port(words.get(1)?)?,
        peer: format!("{peer}:{peer_port}"),
        state: u32::from_str_radix(words.get(3)?, 16).ok().filter(|n| *n < 32).map(|n| 1 << n)?,
        received: words.get(4).and_then(|queues| u64::from_str_radix(queues.split_once(':')?.1, 16).ok()).unwrap_or(0),
        drops: None,
        inode: words.get(9)?.parse().ok()?,
    })
}

/// Returns the inode of a socket descriptor.
pub fn socket_of(process: &Process, fd: u64) -> Option<u64> {
    let link = fs::read_link(format!("/proc/{}/fd/{fd}", process.pid)).ok()?;
    link.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::netlink::sock_diag::ESTABLISHED;
    use std::net::{TcpListener, TcpStream};

    #[test]
    fn parses_rows() {
        let row =
            parsed("   1: 0100007F:1F90 0200007F:0050 01 00000000:00000000 00:00000000 00000000  0 0 4242 1 0 20")
                .unwrap();
        assert_eq!((row.port, row.peer.as_str(), row.state, row.inode), (8080, "127.0.0.2:80", ESTABLISHED, 4242));
        assert_eq!(row.received, 0);
        let listening = parsed("0: 0100007F:1F90 00000000:0000 0A 00000000:0000000C 0:0 0 0 0 7 1").unwrap();
        assert_eq!((listening.state, listening.received), (LISTEN, 12));
        let six =
            "  0: 0000000000000000FFFF00000100007F:1F90 0000000000000000FFFF00000100007F:C350 01 0:0 0:0 0 0 0 7 1";
        assert_eq!(parsed(six).unwrap().peer, "127.0.0.1:50000");
        assert!(parsed("").is_none() && parsed("sl local_address").is_none());
    }

    #[test]
    fn both_ways_read_the_same() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let here = listener.local_addr().unwrap();
        let client = TcpStream::connect(here).unwrap();
        let process = Process::of(std::process::id()).unwrap();
        let own = |rows: Vec<Row>| {
            let port = client.local_addr().unwrap().port();
            let peer = format!("127.0.0.1:{port}");
            let mut own: Vec<_> = rows
                .into_iter()
                .filter(|row| row.port == here.port() && (row.peer == peer || row.state == LISTEN))
                .map(|row| (row.state, row.received, row.peer, row.inode))
                .collect();
            own.sort();
            own
        };
        let by_tables = own(by_tables(&process, ALL, true));
        assert_eq!(by_tables.len(), 2, "{by_tables:?}");
        assert_eq!(own(by_netlink(&process, ALL, true).unwrap()), by_tables);
    }
}
