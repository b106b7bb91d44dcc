//! Connections in TIME_WAIT, which keeps late segments out of new connections for a minute: their side, and the ports
//! that they hold.

use std::collections::HashMap;
use std::fs;
use std::net::IpAddr;

use yunti_probe::netlink::sock_diag::{Socket, TIME_WAIT};

/// Connections between one peer and one service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// True if the service is on this machine.
    pub is_service: bool,
    /// Address of the other side.
    pub peer: IpAddr,
    /// Port of the service.
    pub port: u16,
    /// Connections in TIME_WAIT.
    pub time_wait: u64,
    /// Local ports that connections to this service hold, and all ephemeral ports; for the caller's side.
    pub ports: Option<(u64, u64)>,
}

impl Waiting {
    /// Returns the share of the ephemeral ports that is in use.
    pub fn share(&self) -> f64 {
        self.ports.map_or(0.0, |(taken, range)| taken as f64 / range.max(1) as f64)
    }
}

/// Returns the connections in TIME_WAIT by service, most first. `sockets`: established ones and those in TIME_WAIT;
/// `listening`: returns true for a listening port; `range`: first and last ephemeral port.
pub fn waiting(sockets: &[Socket], listening: &dyn Fn(u16) -> bool, range: Option<(u16, u16)>) -> Vec<Waiting> {
    let mut sums: HashMap<(bool, IpAddr, u16), (u64, u64)> = HashMap::new();
    for socket in sockets {
        let is_service = listening(socket.local.1);
        let port = if is_service { socket.local.1 } else { socket.peer.1 };
        let sum = sums.entry((is_service, socket.peer.0, port)).or_default();
        sum.0 += u64::from(socket.state == TIME_WAIT);
        let is_of_range = range.is_none_or(|(first, last)| (first..=last).contains(&socket.local.1));
        sum.1 += u64::from(is_of_range);
    }
    let all = range.map(|(first, last)| u64::from(last.saturating_sub(first)) + 1);
    let mut found: Vec<Waiting> = sums
        .into_iter()
        .filter(|(_, (time_wait, _))| *time_wait > 0)
        .map(|((is_service, peer, port), (time_wait, taken))| Waiting {
            is_service,
            peer,
            port,
            time_wait,
            ports: all.filter(|_| !is_service).map(|all| (taken, all)),
        })
        .collect();
    found.sort_by(|a, b| b.time_wait.cmp(&a.time_wait).then_with(|| (a.port, a.peer).cmp(&(b.port, b.peer))));
    found
}

/// Returns the first and the last ephemeral port, from `32768 60999`.
pub fn range() -> Option<(u16, u16)> {
    let text = fs::read_to_string("/proc/sys/net/ipv4/ip_local_port_range").ok()?;
    let mut words = text.split_whitespace().map(str::parse::<u16>);
    Some((words.next()?.ok()?, words.next()?.ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use yunti_probe::netlink::sock_diag::ESTABLISHED;

    #[test]
    fn finds_the_side_of_time_wait() {
        let here: IpAddr = "127.0.0.1".parse().unwrap();
        let socket = |local: u16, peer: u16, state| Socket {
            state,
            local: (here, local),
            peer: (here, peer),
            queue: 0,
            queue_max: 0,
            drops: 0,
            inode: 0,
        };
        let sockets = [
            socket(80, 40_000, TIME_WAIT),
            socket(40_001, 9000, TIME_WAIT),
            socket(40_002, 9000, TIME_WAIT),
            socket(40_003, 9000, ESTABLISHED),
        ];
        let found = waiting(&sockets, &|port| port == 80, Some((40_000, 40_009)));
        assert_eq!(found.len(), 2);
        assert_eq!((found[0].port, found[0].time_wait, found[0].ports), (9000, 2, Some((3, 10))));
        assert_eq!((found[1].port, found[1].is_service, found[1].ports), (80, true, None));
        assert!((found[0].share() - 0.3).abs() < 1e-9);
    }
}
