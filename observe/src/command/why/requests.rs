//! Tables and JSON of a process's requests.

use serde_json::{Value, json};

use crate::why::Facts;
use crate::why::requests::PeerRequests;
use yunti_probe::answer::Table;

/// Time in the tables: `31.2 ms`.
fn milliseconds(seconds: f64) -> String {
    format!("{:.1} ms", seconds * 1000.0)
}

/// Returns the tables; none for a process without connections.
pub fn tables(facts: &Facts) -> Vec<Table> {
    let (requests, seconds) = (&facts.requests, facts.seconds.max(0.001));
    let mut rows = Vec::new();
    let inbound = &requests.inbound;
    if inbound.connections > 0.0 {
        rows.push(vec![
            "served here".to_owned(),
            format!("{:.1}", inbound.connections),
            format!("{:.1}", inbound.opened / seconds),
            format!("{:.1}", inbound.requests / seconds),
            format!("{:.2}", inbound.under_way),
            milliseconds(inbound.mean_seconds),
            milliseconds(inbound.longest_seconds),
            format!("{:.2}", inbound.unread),
        ]);
    }
    let peer = |peer: &PeerRequests| {
        vec![
            peer.name(),
            format!("{:.1}", peer.connections),
            format!("{:.1}", peer.opened / seconds),
            format!("{:.1}", peer.requests / seconds),
            format!("{:.2}", peer.outstanding),
            milliseconds(peer.mean_seconds),
            milliseconds(peer.longest_seconds),
            format!("{:.2}", peer.unread),
        ]
    };
    rows.extend(requests.outbound.iter().map(peer));
    let mut tables = Vec::new();
    if !rows.is_empty() {
        tables.push(Table {
            title: "Requests on TCP connections".to_owned(),
            columns: vec![
                ("", false),
                ("connections", true),
                ("opened/s", true),
                ("answered/s", true),
                ("under way", true),
                ("mean", true),
                ("longest", true),
                ("unread", true),
            ],
            rows,
            shown: 8,
        });
    }
    let unix = requests.unix.iter().map(|peer| {
        let name = peer.process.clone().unwrap_or_default();
        let place = if peer.name.is_empty() { "(no name)" } else { &peer.name };
        let side = if peer.is_called { "called" } else { "accepted, or a pair" };
        vec![
            place.to_owned(),
            name,
            side.to_owned(),
            peer.connections.to_string(),
            format!("{:.2}", peer.unread),
            format!("{:.2}", peer.unread_there),
        ]
    });
    let rows: Vec<_> = unix.collect();
    if !rows.is_empty() {
        tables.push(Table {
            title: "Unix-domain sockets".to_owned(),
            columns: vec![
                ("socket", false),
                ("peer", false),
                ("side", false),
                ("connections", true),
                ("unread", true),
                ("unread there", true),
            ],
            rows,
            shown: 4,
        });
    }
    tables
}

pub fn to_json(facts: &Facts) -> Value {
    let requests = &facts.requests;
    let inbound = &requests.inbound;
    let wire = &requests.wire;
    json!({
        "samples": requests.samples,
        "cost_seconds": requests.cost_seconds,
        "ports": requests.ports,
        "look_ups": requests.look_ups,
        "served": {
            "connections": inbound.connections,
            "opened": inbound.opened,
            "requests": inbound.requests,
            "under_way": inbound.under_way,
            "mean_seconds": inbound.mean_seconds,
            "longest_seconds": inbound.longest_seconds,
            "is_poll": inbound.is_poll,
            "unread": inbound.unread,
            "unread_seconds": inbound.unread_seconds,
            "held": inbound.held,
            "held_new": inbound.held_new,
            "held_seconds": inbound.held_seconds,
            "received_bytes": inbound.received_bytes,
            "sent_bytes": inbound.sent_bytes,
        },
        "peers": requests.outbound.iter().map(|peer| json!({
            "peer": peer.peer,
            "process": peer.process,
            "connections": peer.connections,
            "opened": peer.opened,
            "requests": peer.requests,
            "outstanding": peer.outstanding,
            "at_least": peer.is_multiplexed,
            "mean_seconds": peer.mean_seconds,
            "longest_seconds": peer.longest_seconds,
            "covered": peer.covered,
            "waiting_share": peer.waiting_share,
            "is_poll": peer.is_poll,
            "unread": peer.unread,
            "held": peer.held,
            "held_seconds": peer.held_seconds,
            "connecting": peer.connecting,
            "connecting_again": peer.connecting_again,
            "rtt_seconds": peer.rtt_seconds,
        })).collect::<Vec<_>>(),
        "unix": requests.unix.iter().map(|peer| json!({
            "name": peer.name,
            "process": peer.process,
            "is_called": peer.is_called,
            "connections": peer.connections,
            "unread": peer.unread,
            "unread_there": peer.unread_there,
        })).collect::<Vec<_>>(),
        "wire": {
            "closed_windows": wire.closed_windows.iter().map(|one| json!({
                "peer": one.peer,
                "limited": one.limited,
                "unsent_bytes": one.unsent_bytes,
                "bytes_per_second": one.bytes_per_second,
            })).collect::<Vec<_>>(),
            "small_waits": wire.small_waits,
            "small_seen": wire.small_seen,
            "small_seconds": wire.small_seconds,
            "segments": wire.segments,
            "retransmitted": wire.retransmitted,
            "recovering": wire.recovering,
        },
    })
}
