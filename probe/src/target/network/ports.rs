//! TCP counters of a process's network namespace, and its ephemeral ports in use.

use std::collections::HashMap;
use std::fs;

use super::namespace::in_network_of;
use super::sockets::local_ports;
use crate::target::Process;

/// Counters since the namespace was created, from /proc/net/netstat and snmp.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Connections {
    /// Connections that met a full accept queue.
    pub overflows: u64,
    /// Connections accepted.
    pub accepted: u64,
    /// Connections attempted.
    pub called: u64,
}

impl Connections {
    /// Reads the counters of a process's namespace.
    pub fn of(process: &Process) -> Connections {
        let text = |name: &str| fs::read_to_string(process_net(process, name)).unwrap_or_default();
        let (netstat, snmp) = (text("netstat"), text("snmp"));
        Connections {
            overflows: counter(&netstat, "TcpExt:", "ListenOverflows"),
            accepted: counter(&snmp, "Tcp:", "PassiveOpens"),
            called: counter(&snmp, "Tcp:", "ActiveOpens"),
        }
    }

    /// Returns the difference to earlier counters.
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

/// Counter by name, from a line of names and a line of numbers below it.
fn counter(text: &str, kind: &str, name: &str) -> u64 {
    let mut lines = text.lines().filter(|line| line.starts_with(kind));
    let (Some(names), Some(numbers)) = (lines.next(), lines.next()) else { return 0 };
    let at = names.split(' ').position(|word| word == name);
    at.and_then(|at| numbers.split(' ').nth(at)?.parse().ok()).unwrap_or(0)
}

/// Ephemeral ports in use for one peer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PortUse {
    /// Address and port of the peer.
    pub peer: String,
    /// Ports in use, including those in TIME_WAIT.
    pub ports: u64,
    /// Ports in TIME_WAIT.
    pub time_wait: u64,
    /// Ephemeral ports of the system.
    pub range: u64,
}

/// Returns the peer with the most ports in use; `None` if few ports are in TIME_WAIT.
pub fn most_used(process: &Process) -> Option<PortUse> {
    // Connections; the port range may be narrow.
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
    Some(PortUse { peer, ports, time_wait, range: u64::from(*range.end() - *range.start()) + 1 })
}

/// /proc/sys/net belongs to the namespace of its reader.
fn ports_of(process: &Process) -> Option<std::ops::RangeInclusive<u16>> {
    let text = in_network_of(process, || fs::read_to_string("/proc/sys/net/ipv4/ip_local_port_range").ok())??;
    let mut words = text.split_whitespace().map(str::parse::<u16>);
    Some(words.next()?.ok()?..=words.next()?.ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_counters_by_name() {
        let text =
            "TcpExt: SyncookiesSent ListenOverflows ListenDrops\nTcpExt: 1 22 333\nIpExt: ListenOverflows\nIpExt: 9\n";
        assert_eq!(counter(text, "TcpExt:", "ListenOverflows"), 22);
        assert_eq!((counter(text, "TcpExt:", "None"), counter("", "TcpExt:", "ListenDrops")), (0, 0));
    }

    #[test]
    fn reads_the_port_range() {
        let own = Process::of(std::process::id()).unwrap();
        // Without the rights to enter even the present namespace, the range is unknown.
        assert!(ports_of(&own).is_none_or(|range| range.start() < range.end()));
    }
}
