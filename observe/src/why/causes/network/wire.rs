//! Causes on the way between a process and its peers: receivers that do not read, small segments that wait for
//! acknowledgements, and lost segments.

use crate::why::causes::finding::{Finding, percent, while_processors_are_free};
use crate::why::facts::Facts;
use yunti_probe::answer::bytes;

/// Connections at a time from which on they count.
const CONNECTIONS_MIN: f64 = 0.3;
/// Small segments that must have been seen to wait. One may be chance.
const SMALL_SEEN_MIN: u64 = 5;
/// Longest wait of a small segment below which it is no delayed acknowledgement (40 ms on Linux), in seconds.
const DELAYED_ACK_SECONDS: f64 = 0.02;

/// Returns the requests of the process at a time, served and sent, and `more` beside them.
fn all_requests(facts: &Facts, more: f64) -> f64 {
    (facts.requests.inbound.under_way + more).max(facts.requests.all_outbound.outstanding + more).max(0.01)
}

pub fn slow_receiver(facts: &Facts) -> Option<Finding> {
    let slowest = facts.requests.wire.closed_windows.first()?;
    let limited: f64 = facts.requests.wire.closed_windows.iter().map(|one| one.limited).sum();
    if limited < CONNECTIONS_MIN {
        return None;
    }
    let (who, what) = if slowest.is_accepted {
        ("Its clients read too slowly".to_owned(), "answers")
    } else {
        (format!("{} reads too slowly", slowest.peer), "sends")
    };
    Some(Finding {
        cause: "slow-receiver",
        cost: limited / all_requests(facts, limited) * while_processors_are_free(facts),
        sentence: format!("{who}: {limited:.1} {what} at a time wait because the receiver's window is closed."),
        evidence: facts
            .requests
            .wire
            .closed_windows
            .iter()
            .take(3)
            .map(|one| {
                format!(
                    "{}: {:.1} connections held up, {} unsent, {}/s sent",
                    one.peer,
                    one.limited,
                    bytes(one.unsent_bytes as u64),
                    bytes(one.bytes_per_second as u64)
                )
            })
            .collect(),
        cure: "find out why the receiver does not read; here, send less, bound what is kept for a slow receiver, and \
             set a timeout for writes"
            .to_owned(),
    })
}

pub fn small_writes(facts: &Facts) -> Option<Finding> {
    let wire = &facts.requests.wire;
    let waits_for_delay =
        wire.small_seconds >= DELAYED_ACK_SECONDS && wire.small_rtt_seconds < DELAYED_ACK_SECONDS / 2.0;
    if wire.small_seen < SMALL_SEEN_MIN || !waits_for_delay {
        return None;
    }
    // The receiver's request is under way at the same time; for a called peer its answer is outstanding.
    let cost = wire.small_waits / all_requests(facts, wire.small_waits).max(wire.small_waits);
    Some(Finding {
        cause: "nagle-delayed-ack",
        cost: cost * while_processors_are_free(facts),
        sentence: format!(
            "Small writes wait for delayed acknowledgements: {:.1} messages at a time to {} are held back up to {:.0} \
             ms, because their first part is not acknowledged yet (Nagle's algorithm).",
            wire.small_waits,
            wire.small_waits_peer,
            wire.small_seconds * 1000.0
        ),
        evidence: vec![format!(
            "{} samples saw less than a segment unsent while one was on the way; the network takes {:.2} ms",
            wire.small_seen,
            wire.small_rtt_seconds * 1000.0
        )],
        cure: "write each message at once (a buffer, writev), or set TCP_NODELAY".to_owned(),
    })
}

/// Share of segments retransmitted from which on the network loses data.
const LOST_MIN: f64 = 0.01;
const RETRANSMITTED_MIN: u64 = 5;

pub fn loss(facts: &Facts) -> Option<Finding> {
    let wire = &facts.requests.wire;
    let share = wire.retransmitted as f64 / wire.segments.max(1) as f64;
    if wire.retransmitted < RETRANSMITTED_MIN || share < LOST_MIN || wire.recovering < CONNECTIONS_MIN / 3.0 {
        return None;
    }
    Some(Finding {
        cause: "packet-loss",
        cost: wire.recovering / all_requests(facts, 0.0).max(wire.recovering) * while_processors_are_free(facts),
        sentence: format!(
            "The network loses data: {} of the segments to {} are sent again, and {:.1} connections at a time wait \
             for it.",
            percent(share),
            wire.lossy_peer,
            wire.recovering
        ),
        evidence: vec![format!("{} of {} segments with data were retransmitted", wire.retransmitted, wire.segments)],
        cure: "the network or the peer's host: queues that overflow, a damaged link, a firewall; `yunti machine net` \
             shows it by peer"
            .to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::why::requests::{Inbound, Requests, SlowReceiver, Wire};

    fn facts(under_way: f64, wire: Wire) -> Facts {
        let inbound = Inbound { under_way, ..Inbound::default() };
        let requests = Requests { inbound, wire, ..Requests::default() };
        Facts { seconds: 10.0, processors: 2.0, user_seconds: 1.0, requests, ..Facts::default() }
    }

    #[test]
    fn slow_clients_by_their_share() {
        let closed = SlowReceiver { limited: 4.0, is_accepted: true, ..SlowReceiver::default() };
        let cost = |under_way| {
            let wire = Wire { closed_windows: vec![closed.clone()], ..Wire::default() };
            slow_receiver(&facts(under_way, wire)).unwrap().cost
        };
        assert!(cost(0.1) > 0.9 && cost(40.0) < 0.15);
        assert!(slow_receiver(&facts(1.0, Wire::default())).is_none());
    }

    #[test]
    fn a_far_network_is_no_delayed_acknowledgement() {
        let cost = |small_rtt_seconds, small_seconds, small_seen| {
            let wire = Wire { small_waits: 2.0, small_seen, small_seconds, small_rtt_seconds, ..Wire::default() };
            small_writes(&facts(0.2, wire)).map(|found| found.cost)
        };
        assert!(cost(0.0003, 0.04, 200).unwrap() > 0.8);
        assert!(cost(0.04, 0.04, 200).is_none() && cost(0.0003, 0.009, 200).is_none());
        assert!(cost(0.0003, 0.04, 2).is_none());
    }

    #[test]
    fn some_loss_is_normal() {
        let is_found = |retransmitted, recovering| {
            let wire = Wire { segments: 1000, retransmitted, recovering, ..Wire::default() };
            loss(&facts(1.0, wire)).is_some()
        };
        assert!(is_found(50, 0.8) && !is_found(3, 0.8) && !is_found(50, 0.01));
    }
}
