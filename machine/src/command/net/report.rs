//! Report of TCP: one line, tables and JSON.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::measure::NetSample;
use yunti_probe::answer::{Answer, Table, percent, time};
use yunti_probe::kernel::system::{AnswerTimes, Pair, PairCounts, Role};
use yunti_probe::target::{Process, label};

const SHOWN: usize = 15;
const ROWS_MAX: usize = 1000;
/// Thresholds of the first line: retransmitted segments, and share of ports in use.
const RETRANSMITS_NOTED: u64 = 10;
const PORTS_NOTED: f64 = 0.7;

/// Adds the report to `answer`, and returns its JSON.
pub fn report(sample: &NetSample, answer: &mut Answer) -> Value {
    // One row per service, over all its callers.
    let mut services: BTreeMap<(Role, u16, u32), AnswerTimes> = BTreeMap::new();
    for (pair, times) in &sample.answers {
        services.entry((pair.role, pair.port, pair.pid)).or_default().join(times);
    }
    let mut by_service: Vec<_> = services.into_iter().collect();
    by_service.sort_by_key(|(_, times)| std::cmp::Reverse(times.count()));
    let mut by_peer: Vec<&(Pair, AnswerTimes)> = sample.answers.iter().collect();
    by_peer.sort_by_key(|(_, times)| std::cmp::Reverse(times.count()));
    let mut connections: Vec<&(Pair, PairCounts)> = sample.connections.iter().collect();
    connections.sort_by_key(|(_, counts)| {
        std::cmp::Reverse(
            counts.opened + counts.closed_here + counts.closed_there + counts.reset + counts.retransmitted,
        )
    });
    answer.lead = lead(sample, &by_service);
    answers(&by_service, &by_peer, answer);
    connection_table(&connections, answer);
    queue_table(sample, answer);
    time_wait_table(sample, answer);
    json!({
        "services": by_service.iter().map(|((role, port, pid), times)| {
            let mut one = times_json(times);
            (one["role"], one["port"]) = (json!(word(*role)), json!(port));
            (one["pid"], one["process"]) = (json!(pid), json!(process(*pid)));
            one
        }).collect::<Vec<_>>(),
        "answers": by_peer.iter().map(|(pair, times)| {
            let mut one = times_json(times);
            (one["role"], one["port"]) = (json!(word(pair.role)), json!(pair.port));
            one["peer"] = json!(pair.peer.to_string());
            (one["pid"], one["process"]) = (json!(pair.pid), json!(process(pair.pid)));
            one
        }).collect::<Vec<_>>(),
        "connections": connections.iter().map(|(pair, counts)| json!({
            "role": word(pair.role), "port": pair.port, "peer": pair.peer.to_string(),
            "opened": counts.opened, "closed_here_first": counts.closed_here,
            "closed_there_first": counts.closed_there, "reset": counts.reset,
            "retransmitted_segments": counts.retransmitted, "retransmitted_synacks": counts.synacks_retransmitted,
            "resets_received": counts.resets_received,
            "mean_life_seconds": mean_life_ns(counts).map(|ns| ns as f64 / 1e9),
        })).collect::<Vec<_>>(),
        "listen_queues": sample.queues.iter().map(|queue| json!({
            "address": queue.address.to_string(), "port": queue.port, "longest": queue.longest, "max": queue.max,
            "refused": queue.refused(), "processes": queue.processes,
        })).collect::<Vec<_>>(),
        "time_wait": sample.waiting.iter().map(|one| json!({
            "role": word(if one.is_service { Role::Service } else { Role::Caller }), "port": one.port,
            "peer": one.peer.to_string(),
            "connections": one.time_wait, "ports_used": one.ports.map(|(taken, _)| taken),
            "ports": one.ports.map(|(_, all)| all),
        })).collect::<Vec<_>>(),
    })
}

fn word(role: Role) -> &'static str {
    match role {
        Role::Service => "service",
        Role::Caller => "caller",
    }
}

fn process(pid: u32) -> String {
    Process::of(pid).map_or_else(|_| "(ended)".to_owned(), |process| label(&process))
}

fn times_json(times: &AnswerTimes) -> Value {
    let seconds = |ns: u64| ns as f64 / 1e9;
    json!({
        "count": times.count(), "mean_seconds": seconds(times.mean_ns()),
        "p50_seconds": seconds(times.percentile_ns(0.5)),
        "p90_seconds": seconds(times.percentile_ns(0.9)), "p99_seconds": seconds(times.percentile_ns(0.99)),
        "max_seconds": seconds(times.max_ns()),
    })
}

fn mean_life_ns(counts: &PairCounts) -> Option<u64> {
    (counts.lives > 0).then(|| counts.life_ns / counts.lives)
}

fn lead(sample: &NetSample, by_service: &[((Role, u16, u32), AnswerTimes)]) -> String {
    let mut parts = Vec::new();
    if let Some(queue) = sample.queues.first().filter(|queue| queue.refused() > 0) {
        parts.push(format!(
            "{} connections to port {} were refused: its accept queue of {} was full",
            queue.refused(),
            queue.port,
            queue.max
        ));
    }
    let fullest = sample.waiting.iter().max_by(|a, b| a.share().total_cmp(&b.share()));
    if let Some(one) = fullest.filter(|one| one.share() >= PORTS_NOTED) {
        parts.push(format!(
            "{:.0} % of the ports for {}:{} are in use, most by closed connections in TIME_WAIT",
            one.share() * 100.0,
            one.peer,
            one.port
        ));
    }
    let retransmitted: u64 =
        sample.connections.iter().map(|(_, counts)| counts.retransmitted + counts.synacks_retransmitted).sum();
    if retransmitted >= RETRANSMITS_NOTED {
        parts.push(format!("{retransmitted} segments were retransmitted"));
    }
    let busiest = |role| by_service.iter().find(|((of, ..), _)| *of == role);
    if let Some(((_, port, pid), times)) = busiest(Role::Service) {
        parts.push(format!(
            "port {port} ({}) sent {} responses, half within {}, 99 % within {}",
            process(*pid),
            times.count(),
            time(times.percentile_ns(0.5)),
            time(times.percentile_ns(0.99))
        ));
    } else if let Some(((_, port, pid), times)) = busiest(Role::Caller) {
        parts.push(format!(
            "{} received {} responses from remote port {port}, half within {}, 99 % within {}",
            process(*pid),
            times.count(),
            time(times.percentile_ns(0.5)),
            time(times.percentile_ns(0.99))
        ));
    }
    if parts.is_empty() {
        return "no requests and no responses.".to_owned();
    }
    parts.join("; ") + "."
}

fn answers(by_service: &[((Role, u16, u32), AnswerTimes)], by_peer: &[&(Pair, AnswerTimes)], answer: &mut Answer) {
    let seconds = answer.seconds.max(0.001);
    let cells = |times: &AnswerTimes| {
        vec![
            format!("{:.1}", times.count() as f64 / seconds),
            time(times.percentile_ns(0.5)),
            time(times.percentile_ns(0.9)),
            time(times.percentile_ns(0.99)),
            time(times.max_ns()),
        ]
    };
    let columns = [("responses/s", true), ("half within", true), ("90 %", true), ("99 %", true), ("longest", true)];
    for (role, title) in [(Role::Service, "Responses sent here"), (Role::Caller, "Responses received here")] {
        let rows =
            by_service.iter().filter(|((of, ..), _)| *of == role).take(ROWS_MAX).map(|((_, port, pid), times)| {
                let mut row = cells(times);
                row.extend([port.to_string(), format!("{} {pid}", process(*pid))]);
                row
            });
        push(answer, title, columns.into_iter().chain([("port", true), ("process", false)]).collect(), rows.collect());
    }
    let rows = by_peer.iter().take(ROWS_MAX).map(|(pair, times)| {
        let mut row = cells(times);
        let way = match pair.role {
            Role::Service => format!("{} at {}", pair.peer, pair.port),
            Role::Caller => format!("to {}:{}", pair.peer, pair.port),
        };
        row.extend([way, format!("{} {}", process(pair.pid), pair.pid)]);
        row
    });
    push(
        answer,
        "Responses by peer",
        columns.into_iter().chain([("peer", false), ("process", false)]).collect(),
        rows.collect(),
    );
}

fn connection_table(connections: &[&(Pair, PairCounts)], answer: &mut Answer) {
    let seconds = answer.seconds.max(0.001);
    let rows = connections.iter().take(ROWS_MAX).map(|(pair, counts)| {
        let way = match pair.role {
            Role::Service => format!("{} at {}", pair.peer, pair.port),
            Role::Caller => format!("to {}:{}", pair.peer, pair.port),
        };
        vec![
            format!("{:.1}", counts.opened as f64 / seconds),
            counts.closed_here.to_string(),
            counts.closed_there.to_string(),
            counts.reset.to_string(),
            mean_life_ns(counts).map_or("-".to_owned(), time),
            (counts.retransmitted + counts.synacks_retransmitted).to_string(),
            counts.resets_received.to_string(),
            way,
        ]
    });
    let columns =
        ["opened/s", "closed here", "closed by peer", "reset", "mean lifetime", "retransmitted", "resets received"];
    let columns = columns.into_iter().map(|column| (column, true)).chain([("peer", false)]).collect();
    push(answer, "Connections", columns, rows.collect());
}

fn queue_table(sample: &NetSample, answer: &mut Answer) {
    let rows = sample.queues.iter().take(ROWS_MAX).map(|queue| {
        vec![
            queue.refused().to_string(),
            queue.longest.to_string(),
            queue.max.to_string(),
            format!("{}:{}", queue.address, queue.port),
            queue.processes.first().cloned().unwrap_or_default(),
        ]
    });
    let columns = vec![
        ("refused (queue full)", true),
        ("longest", true),
        ("limit", true),
        ("listens at", false),
        ("process", false),
    ];
    push(answer, "Accept queues", columns, rows.collect());
}

fn time_wait_table(sample: &NetSample, answer: &mut Answer) {
    let rows = sample.waiting.iter().take(ROWS_MAX).map(|one| {
        let way = if one.is_service {
            format!("{} at {}", one.peer, one.port)
        } else {
            format!("to {}:{}", one.peer, one.port)
        };
        let share = one.ports.map_or("-".to_owned(), |(taken, all)| percent(taken, all));
        vec![one.time_wait.to_string(), share, way]
    });
    let columns = vec![("in TIME_WAIT", true), ("ports in use", true), ("peer", false)];
    push(answer, "TIME_WAIT: ports reserved for a minute after an active close", columns, rows.collect());
}

fn push(answer: &mut Answer, title: &str, columns: Vec<(&'static str, bool)>, rows: Vec<Vec<String>>) {
    if !rows.is_empty() {
        answer.tables.push(Table { title: title.to_owned(), columns, rows, shown: SHOWN });
    }
}
