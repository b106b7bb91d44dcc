//! Causes in connections: a full accept queue, and exhausted ephemeral ports.

use crate::why::causes::finding::{Finding, percent};
use crate::why::facts::Facts;
use crate::why::measure::listening::Queue;

/// Overflows of the accept queue in the measurement from which on they count. A single one may be chance.
const OVERFLOWS_MIN: u64 = 5;
/// Accepted connections that one dropped connection weighs as much as. Its
/// client retries after one second, then after three.
const WEIGHT_OF_DROPPED: f64 = 10.0;

pub fn listen_overflow(facts: &Facts) -> Option<Finding> {
    let of = |queue: &Queue| queue.dropped.unwrap_or(0);
    let fullest = facts.listeners.iter().max_by_key(|queue| (of(queue), queue.longest))?;
    let dropped = match fullest.dropped {
        Some(_) => facts.listeners.iter().map(of).sum(),
        // The count is of the whole network namespace, but one of the process's own queues was not empty.
        None if fullest.longest > 0 => facts.connections.overflows,
        None => 0,
    };
    let heavy = dropped as f64 * WEIGHT_OF_DROPPED;
    (dropped >= OVERFLOWS_MIN).then(|| Finding {
        cause: "listen-overflow",
        cost: heavy / (heavy + facts.connections.accepted as f64),
        sentence: format!(
            "Connections are dropped: the accept queue of port {} was full {dropped} times, {:.0} times per second; a \
             dropped client retries after a second or more.",
            fullest.port,
            dropped as f64 / facts.seconds.max(0.001)
        ),
        evidence: vec![
            format!("{} connections were accepted during this time", facts.connections.accepted),
            format!(
                "the queue of port {1} held at most {0} connections when it was sampled",
                fullest.longest, fullest.port
            ),
            "`yunti machine net` shows it by port and peer".to_owned(),
        ],
        cure: "accept faster (in a thread of its own), lengthen the queue (listen(), and net.core.somaxconn, which \
             bounds it), or keep connections open"
            .to_owned(),
    })
}

/// Share of the ephemeral ports for one peer from which on they count as exhausted.
const USED_MIN: f64 = 0.9;

pub fn ports(facts: &Facts) -> Option<Finding> {
    let used = facts.port_use.as_ref()?;
    let share = used.ports as f64 / used.range.max(1) as f64;
    (share >= USED_MIN && used.time_wait * 2 >= used.ports).then(|| Finding {
        cause: "time-wait-exhaustion",
        cost: share.min(1.0),
        sentence: format!(
            "Ephemeral ports run out: of {} for connections to {}, {} are in use, {} of them by closed connections in \
             TIME_WAIT (60 s).",
            used.range,
            used.peer,
            percent(share.min(1.0)),
            used.time_wait
        ),
        evidence: vec![format!(
            "{:.0} connections per second were opened; {} ports and 60 s allow {:.0}",
            facts.connections.called as f64 / facts.seconds.max(0.001),
            used.range,
            used.range as f64 / 60.0
        )],
        cure: "keep connections open and reuse them; net.ipv4.tcp_tw_reuse=1 if both sides have timestamps; more \
             ports (net.ipv4.ip_local_port_range), more addresses"
            .to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use yunti_probe::target::ports::Connections;

    fn facts(dropped: Option<u64>, longest: u64) -> Facts {
        Facts {
            seconds: 10.0,
            connections: Connections { overflows: 100, accepted: 50, called: 0 },
            listeners: vec![Queue { port: 80, longest, dropped }],
            ..Facts::default()
        }
    }

    #[test]
    fn overflows_count_by_the_process_own_sockets() {
        // A burst that no sample hit; overflows of other processes in the namespace; and no counts from the kernel.
        assert!(listen_overflow(&facts(Some(100), 0)).is_some());
        assert!(listen_overflow(&facts(Some(0), 5)).is_none());
        assert!(listen_overflow(&facts(None, 5)).is_some());
        assert!(listen_overflow(&facts(None, 0)).is_none());
        assert!(listen_overflow(&Facts { listeners: Vec::new(), ..facts(None, 0) }).is_none());
    }
}
