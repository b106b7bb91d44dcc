//! What the network namespace of a process has counted of connections, and how much of its ports is in use.

use std::collections::HashMap;
use std::fs::{self, File};
use std::os::fd::AsFd;

use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};

use super::Process;
use super::sockets::{Listener, listeners, local_ports};

/// Since the namespace is there: /proc/net/netstat and snmp, by the names that they have there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Connections {
    /// Connections that came when the queue of a listening socket was full.
    pub overflows: u64,
    /// Connections that were accepted.
    pub accepted: u64,
    /// Connections that were tried to be made.
    pub called: u64,
}

impl Connections {
    pub fn of(process: &Process) -> Connections {
        let text = |name: &str| fs::read_to_string(process_net(process, name)).unwrap_or_default();
        let (netstat, snmp) = (text("netstat"), text("snmp"));
        Connections {
            overflows: counter(&netstat, "TcpExt:", "ListenOverflows"),
            accepted: counter(&snmp, "Tcp:", "PassiveOpens"),
            called: counter(&snmp, "Tcp:", "ActiveOpens"),
        }
    }

    pub fn since(self, before: Connections) -> Connections {
        Connections {
            overflows: self.overflows.saturating_sub(before.overflows),
            accepted: self.accepted.saturating_sub(before.accepted),
            called: self.called.saturating_sub(before.called),
        }
    }
}

fn process_net(process: &Process, name: &str) -> String {
    format!("/proc/{}/net/{name}", process.pid)
}

/// A line of names, and one of numbers below it.
fn counter(text: &str, kind: &str, name: &str) -> u64 {
    let mut lines = text.lines().filter(|line| line.starts_with(kind));
    let (Some(names), Some(numbers)) = (lines.next(), lines.next()) else { return 0 };
    let at = names.split(' ').position(|word| word == name);
    at.and_then(|at| numbers.split(' ').nth(at)?.parse().ok()).unwrap_or(0)
}

/// Ports here that are taken by connections to one peer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Taken {
    pub peer: String,
    /// With those in TIME_WAIT.
    pub ports: u64,
    pub time_wait: u64,
    /// Ports that the system gives to who calls.
    pub range: u64,
}

/// The peer to which most ports are taken; `None`: there are few in TIME_WAIT, and nobody lacks ports.
pub fn most_taken(process: &Process) -> Option<Taken> {
    // A range may be a narrow one.
    const FEW: u64 = 16;
    let stat = fs::read_to_string(process_net(process, "sockstat")).unwrap_or_default();
    let waiting = stat.lines().find_map(|line| {
        let mut words = line.strip_prefix("TCP: ")?.split(' ').skip_while(|word| *word != "tw");
        words.nth(1)?.parse::<u64>().ok()
    })?;
    if waiting < FEW {
        return None;
    }
    let range = ports_of(process)?;
    let mut sums: HashMap<String, (u64, u64)> = HashMap::new();
    for local in local_ports(process) {
        if range.contains(&local.port) {
            let sum = sums.entry(local.peer).or_default();
            sum.0 += 1;
            sum.1 += u64::from(local.is_time_wait);
        }
    }
    let (peer, (ports, time_wait)) = sums.into_iter().max_by_key(|(_, (ports, _))| *ports)?;
    Some(Taken { peer, ports, time_wait, range: u64::from(*range.end() - *range.start()) + 1 })
}

/// Where those who wait to be accepted stand: sockets of this process that listen.
pub fn queues(process: &Process) -> Vec<Listener> {
    listeners(process)
}

/// What a thread of ours finds in the network namespace of a process; `None`: it may not go there.
pub fn in_network_of<T: Send + 'static>(process: &Process, find: impl FnOnce() -> T + Send + 'static) -> Option<T> {
    let path = format!("/proc/{}/ns/net", process.pid);
    let is_ours = fs::read_link(&path).ok() == fs::read_link("/proc/self/ns/net").ok();
    let namespace = File::open(path).ok()?;
    let finder = std::thread::spawn(move || {
        if !is_ours {
            move_into_link_name_space(namespace.as_fd(), Some(LinkNameSpaceType::Network)).ok()?;
        }
        Some(find())
    });
    finder.join().ok()?
}

/// /proc/sys/net is that of who reads it.
fn ports_of(process: &Process) -> Option<std::ops::RangeInclusive<u16>> {
    let text = in_network_of(process, || fs::read_to_string("/proc/sys/net/ipv4/ip_local_port_range").ok())??;
    let mut words = text.split_whitespace().map(str::parse::<u16>);
    Some(words.next()?.ok()?..=words.next()?.ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_by_name() {
        let text =
            "TcpExt: SyncookiesSent ListenOverflows ListenDrops\nTcpExt: 1 22 333\nIpExt: ListenOverflows\nIpExt: 9\n";
        assert_eq!(counter(text, "TcpExt:", "ListenOverflows"), 22);
        assert_eq!((counter(text, "TcpExt:", "None"), counter("", "TcpExt:", "ListenDrops")), (0, 0));
    }

    #[test]
    fn ports_of_our_own() {
        let own = Process::of(std::process::id()).unwrap();
        // Without the rights to move to where we are already, nothing is known.
        assert!(ports_of(&own).is_none_or(|range| range.start() < range.end()));
    }
}
