//! From a client's bytes to a handler: readers, the call queue, handlers.

use super::report::{Advice, Line, Place, Report, Sure};
use super::seen::{Port, Seen};
use super::settings::Settings;

const READERS: &str = "ipc.server.read.threadpool.size";
const HANDLERS: &str = "dfs.namenode.handler.count";
/// Below it one thread has time enough to read and decode.
const CALLS_OF_A_READER: f64 = 2_000.0;
const QUEUE_MS_MIN: f64 = 5.0;
/// Of the places in a queue.
const FULL_SHARE: f64 = 0.5;
const BUSY_SHARE: f64 = 0.9;
/// One user with more than this stands in the way of others; who is alone stands in nobody's.
const USER_SHARE: f64 = 0.5;
const ALONE_SHARE: f64 = 0.99;

pub fn judge(settings: &Settings, seen: &Seen, report: &mut Report) {
    let Some(port) = seen.client_port(settings).filter(|_| seen.is_active()) else { return };
    readers(settings, seen, &port, report);
    if is_slow(&port) {
        handlers(settings, seen, &port, report);
        fair_queue(settings, seen, &port, report);
    }
}

/// Calls wait longer than they are worked on.
pub fn is_slow(port: &Port) -> bool {
    port.queue_ms.is_some_and(|queue| queue >= QUEUE_MS_MIN && queue >= port.processing_ms.unwrap_or(0.0))
}

pub fn queue_figure(port: &Port) -> String {
    format!(
        "a call waited {:.1} ms in the queue of port {} and was worked on for {:.1} ms, on average; {:.0} were in it",
        port.queue_ms.unwrap_or(0.0),
        port.number,
        port.processing_ms.unwrap_or(0.0),
        port.queued
    )
}

fn readers(settings: &Settings, seen: &Seen, port: &Port, report: &mut Report) {
    let now = settings.number(READERS, 1.0).max(1.0);
    let wanted = (seen.cores() / 4.0).clamp(3.0, 16.0).floor();
    if port.per_second < CALLS_OF_A_READER * now || now >= wanted || seen.cores() < 2.0 {
        return;
    }
    report.add(Advice {
        name: "readers",
        change: format!("Have {wanted:.0} threads read from connections"),
        sure: Sure::Likely,
        seen: vec![format!(
            "{now:.0} read {:.0} calls a second from {:.0} connections",
            port.per_second, port.connections
        )],
        why: "Each call is read and decoded by one of these threads before it comes into the queue; no figure of stock tells how busy they are.".to_owned(),
        brings: "bursts are read by several processors; calls that wait in sockets are seen by nobody".to_owned(),
        lines: vec![Line::property(Place::CoreSite, READERS, format_args!("{wanted:.0}"))],
    });
}

/// 20 ln(DataNodes): E. Sammer, *Hadoop Operations*, 2012; Cloudera Manager's default too (its community's articles say log2, and 200 at most). A small cluster on a large machine has clients too.
fn handlers_wanted(seen: &Seen) -> f64 {
    let by_datanodes = 20.0 * seen.live_datanodes().max(1.0).ln();
    by_datanodes.max(8.0 * seen.cores()).clamp(40.0, 200.0).ceil()
}

fn handlers(settings: &Settings, seen: &Seen, port: &Port, report: &mut Report) {
    let now = settings.handlers();
    let wanted = handlers_wanted(seen);
    if wanted <= now || port.queued <= 0.0 && port.at_work < now * BUSY_SHARE {
        return;
    }
    let is_busy = seen.cpu_share().is_some_and(|share| share >= BUSY_SHARE)
        || seen.machine_share().is_some_and(|share| share >= BUSY_SHARE);
    let brings = if is_busy {
        "little before the processors have time: they are busy"
    } else {
        "as much as the processors have time for; threads that wait for the edit log or the lock no longer keep others out"
    };
    report.add(Advice {
        name: "handlers",
        change: format!("Have {wanted:.0} handlers in place of {now:.0}"),
        sure: if is_busy { Sure::Try } else { Sure::Likely },
        seen: vec![
            queue_figure(port),
            format!("{:.0} DataNodes, {:.0} processors", seen.live_datanodes(), seen.cores()),
        ],
        why: "All handlers had a call; the guides' rule is 20 ln(DataNodes), here at least 40 and eight a processor."
            .to_owned(),
        brings: brings.to_owned(),
        lines: vec![Line::property(Place::HdfsSite, HANDLERS, format_args!("{wanted:.0}"))],
    });
}

fn fair_queue(settings: &Settings, seen: &Seen, port: &Port, report: &mut Report) {
    let implementation = settings.ipc(port.number, "callqueue.impl").unwrap_or("LinkedBlockingQueue");
    let key = |name: &str| format!("ipc.{}.{name}", port.number);
    let places = settings.handlers() * settings.number("ipc.server.handler.queue.size", 100.0);
    let top = seen.top_user().filter(|(_, share)| (USER_SHARE..ALONE_SHARE).contains(share));
    let is_fair = implementation.ends_with("FairCallQueue") || implementation.ends_with("ShardedCallQueue");
    if let Some((user, share)) = top.filter(|_| !is_fair) {
        report.add(Advice {
            name: "fair-call-queue",
            change: "Let who calls much wait more than others".to_owned(),
            sure: Sure::Likely,
            seen: vec![queue_figure(port), format!("{user} made {:.0} % of the operations", share * 100.0)],
            why: format!("In one queue ({implementation}) everybody waits behind the calls of one."),
            brings: format!("others than {user} wait less; {user} waits as long as before, or longer"),
            lines: vec![
                Line::property(Place::CoreSite, &key("callqueue.impl"), "org.apache.hadoop.ipc.FairCallQueue"),
                Line::property(Place::CoreSite, &key("scheduler.impl"), "org.apache.hadoop.ipc.DecayRpcScheduler"),
            ],
        });
    }
    let is_backing_off = settings.ipc(port.number, "backoff.enable").is_some_and(|on| on.eq_ignore_ascii_case("true"));
    if port.queued >= places * FULL_SHARE && !is_backing_off {
        let has_service = settings.is_set_for_any("dfs.namenode.servicerpc-address");
        let apart = if has_service { "" } else { "; DataNodes call this port too: give them one of their own first" };
        report.add(Advice {
            name: "back-off",
            change: "Let clients come again later when the queue is full".to_owned(),
            sure: Sure::Certain,
            seen: vec![format!("{:.0} calls were in the queue, which has {places:.0} places", port.queued)],
            why: "Else readers stand still before a full queue, and with them all connections.".to_owned(),
            brings: format!("who is not the cause of it is answered; calls are not lost, they are tried again{apart}"),
            lines: vec![Line::property(Place::CoreSite, &key("backoff.enable"), true)],
        });
    }
}
