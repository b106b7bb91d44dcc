//! Causes in how connections are made: a queue that is full before they are accepted, ports that are all taken.

use super::facts::Facts;
use super::listening::Queue;
use super::rules::{Finding, percent};

/// In the time that was looked at; a single one may be chance.
const OVERFLOWS_MIN: u64 = 5;
/// Who was turned away tries again after a second, and after three: each counts for more than one that came in.
const WEIGHT_OF_TURNED_AWAY: f64 = 10.0;

pub fn listen_overflow(facts: &Facts) -> Option<Finding> {
    let of = |queue: &Queue| queue.turned_away.unwrap_or(0);
    let fullest = facts.listeners.iter().max_by_key(|queue| (of(queue), queue.longest))?;
    let turned_away = match fullest.turned_away {
        Some(_) => facts.listeners.iter().map(of).sum(),
        // Of all that listen in its namespace, one of its own has a queue.
        None if fullest.longest > 0 => facts.connections.overflows,
        None => 0,
    };
    let heavy = turned_away as f64 * WEIGHT_OF_TURNED_AWAY;
    (turned_away >= OVERFLOWS_MIN).then(|| Finding {
        cause: "listen-overflow",
        cost: heavy / (heavy + facts.connections.accepted as f64),
        sentence: format!(
            "Connections are turned away: the queue of port {} was full {turned_away} times, {:.0} times a second; who is turned away tries again after a second or more.",
            fullest.port,
            turned_away as f64 / facts.seconds.max(0.001)
        ),
        evidence: vec![
            format!("{} connections were accepted meanwhile", facts.connections.accepted),
            format!("{} at most stood in the queue of port {} when it was looked at", fullest.longest, fullest.port),
            "`yunti machine net` shows it by port and peer".to_owned(),
        ],
        cure: "accept faster (a thread that does nothing else), a longer queue (listen(), and net.core.somaxconn, which bounds it), connections that are kept open".to_owned(),
    })
}

/// Of the ports that there are for one peer.
const TAKEN_MIN: f64 = 0.9;

pub fn ports(facts: &Facts) -> Option<Finding> {
    let taken = facts.ports_taken.as_ref()?;
    let share = taken.ports as f64 / taken.range.max(1) as f64;
    (share >= TAKEN_MIN && taken.time_wait * 2 >= taken.ports).then(|| Finding {
        cause: "time-wait-exhaustion",
        cost: share.min(1.0),
        sentence: format!(
            "It runs out of ports: of {} for connections to {} {} are taken, {} of them by connections that are closed and wait for 60 s (TIME_WAIT).",
            taken.range,
            taken.peer,
            percent(share.min(1.0)),
            taken.time_wait
        ),
        evidence: vec![format!(
            "{:.0} connections a second were made; {} ports and 60 s allow {:.0}",
            facts.connections.called as f64 / facts.seconds.max(0.001),
            taken.range,
            taken.range as f64 / 60.0
        )],
        cure: "connections that are kept open and used again; net.ipv4.tcp_tw_reuse=1 where both sides have timestamps; more ports (net.ipv4.ip_local_port_range), more addresses".to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use yunti_probe::target::ports::Connections;

    fn facts(turned_away: Option<u64>, longest: u64) -> Facts {
        Facts {
            seconds: 10.0,
            connections: Connections { overflows: 100, accepted: 50, called: 0 },
            listeners: vec![Queue { port: 80, longest, turned_away }],
            ..Facts::default()
        }
    }

    #[test]
    fn who_turns_away_is_told_by_its_own_sockets() {
        // A burst that no look has seen; others of the namespace who overflow; and where the kernel does not tell.
        assert!(listen_overflow(&facts(Some(100), 0)).is_some());
        assert!(listen_overflow(&facts(Some(0), 5)).is_none());
        assert!(listen_overflow(&facts(None, 5)).is_some());
        assert!(listen_overflow(&facts(None, 0)).is_none());
        assert!(listen_overflow(&Facts { listeners: Vec::new(), ..facts(None, 0) }).is_none());
    }
}
