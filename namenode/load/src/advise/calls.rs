//! Call path rules: reader threads, the call queue, handlers.

use super::report::{Advice, Confidence, ConfigFile, Line, Report};
use super::sample::{MetricsSample, Port};
use super::settings::Settings;

const READERS: &str = "ipc.server.read.threadpool.size";
const HANDLERS: &str = "dfs.namenode.handler.count";
/// Calls per second for each reader thread; below it one thread reads and decodes all.
const CALLS_OF_A_READER: f64 = 2_000.0;
/// Milliseconds in the call queue, on average; less is not a problem.
const QUEUE_MS_MIN: f64 = 5.0;
/// Share of the queue's capacity.
const FULL_SHARE: f64 = 0.5;
/// Share of all handlers, or of all processors.
const BUSY_SHARE: f64 = 0.9;
/// Share of the operations with which one user delays others.
const USER_SHARE: f64 = 0.5;
/// Share of the operations from which a user counts as the only one.
const ALONE_SHARE: f64 = 0.99;

pub fn judge(settings: &Settings, sample: &MetricsSample, report: &mut Report) {
    let Some(port) = sample.client_port(settings).filter(|_| sample.is_active()) else { return };
    readers(settings, sample, &port, report);
    if is_slow(&port) {
        handlers(settings, sample, &port, report);
        fair_queue(settings, sample, &port, report);
    }
}

/// Returns true if calls wait longer than they are processed.
pub fn is_slow(port: &Port) -> bool {
    port.queue_ms.is_some_and(|queue| queue >= QUEUE_MS_MIN && queue >= port.processing_ms.unwrap_or(0.0))
}

/// Returns the line about the queue that several pieces of advice share.
pub fn queue_figure(port: &Port) -> String {
    format!(
        "a call waited {:.1} ms in the queue of port {} and was processed for {:.1} ms, on average; queue length {:.0}",
        port.queue_ms.unwrap_or(0.0),
        port.number,
        port.processing_ms.unwrap_or(0.0),
        port.queued
    )
}

fn readers(settings: &Settings, sample: &MetricsSample, port: &Port, report: &mut Report) {
    let now = settings.number(READERS, 1.0).max(1.0);
    let wanted = (sample.cores() / 4.0).clamp(3.0, 16.0).floor();
    if port.per_second < CALLS_OF_A_READER * now || now >= wanted || sample.cores() < 2.0 {
        return;
    }
    report.add(Advice {
        name: "readers",
        change: format!("Use {wanted:.0} reader threads"),
        confidence: Confidence::Likely,
        figures: vec![format!(
            "reader threads: {now:.0}, for {:.0} calls a second from {:.0} connections",
            port.per_second, port.connections
        )],
        why: "These threads read and decode each call before it enters the queue; no metric of stock shows how busy \
            they are."
            .to_owned(),
        brings: "several processors read bursts; no metric counts calls that wait in sockets".to_owned(),
        lines: vec![Line::property(ConfigFile::CoreSite, READERS, format_args!("{wanted:.0}"))],
    });
}

/// Returns the handlers to use: 20 ln(DataNodes), or eight a processor if that is more, from 40 to 200.
///
/// The logarithm is the rule of E. Sammer, *Hadoop Operations*, 2012, and Cloudera Manager's default. Articles of
/// Cloudera's community use log2, and 200 at most. The processors count for small clusters with many clients.
fn handlers_wanted(sample: &MetricsSample) -> f64 {
    let by_datanodes = 20.0 * sample.live_datanodes().max(1.0).ln();
    by_datanodes.max(8.0 * sample.cores()).clamp(40.0, 200.0).ceil()
}

fn handlers(settings: &Settings, sample: &MetricsSample, port: &Port, report: &mut Report) {
    let now = settings.handlers();
    let wanted = handlers_wanted(sample);
    if wanted <= now || port.queued <= 0.0 && port.at_work < now * BUSY_SHARE {
        return;
    }
    let is_busy = sample.cpu_share().is_some_and(|share| share >= BUSY_SHARE)
        || sample.machine_share().is_some_and(|share| share >= BUSY_SHARE);
    let brings = if is_busy {
        "little, because the processors are busy"
    } else {
        "more calls at once, as far as processors are idle; handlers that wait for the edit log or the lock no \
            longer block others"
    };
    report.add(Advice {
        name: "handlers",
        change: format!("Use {wanted:.0} handlers instead of {now:.0}"),
        confidence: if is_busy { Confidence::Try } else { Confidence::Likely },
        figures: vec![
            queue_figure(port),
            format!("{:.0} DataNodes, {:.0} processors", sample.live_datanodes(), sample.cores()),
        ],
        why: "All handlers were busy; the usual rule is 20 ln(DataNodes), here at least 40 and eight a processor."
            .to_owned(),
        brings: brings.to_owned(),
        lines: vec![Line::property(ConfigFile::HdfsSite, HANDLERS, format_args!("{wanted:.0}"))],
    });
}

fn fair_queue(settings: &Settings, sample: &MetricsSample, port: &Port, report: &mut Report) {
    let implementation = settings.ipc(port.number, "callqueue.impl").unwrap_or("LinkedBlockingQueue");
    let key = |name: &str| format!("ipc.{}.{name}", port.number);
    let places = settings.handlers() * settings.number("ipc.server.handler.queue.size", 100.0);
    let top = sample.top_user().filter(|(_, share)| (USER_SHARE..ALONE_SHARE).contains(share));
    let is_fair = implementation.ends_with("FairCallQueue") || implementation.ends_with("ShardedCallQueue");
    if let Some((user, share)) = top.filter(|_| !is_fair) {
        report.add(Advice {
            name: "fair-call-queue",
            change: "Make users with many calls wait longer than others".to_owned(),
            confidence: Confidence::Likely,
            figures: vec![queue_figure(port), format!("{user} made {:.0} % of the operations", share * 100.0)],
            why: format!("In one queue ({implementation}) all users wait behind the calls of one."),
            brings: format!("users other than {user} wait less; {user} waits as long as before, or longer"),
            lines: vec![
                Line::property(ConfigFile::CoreSite, &key("callqueue.impl"), "org.apache.hadoop.ipc.FairCallQueue"),
                Line::property(ConfigFile::CoreSite, &key("scheduler.impl"), "org.apache.hadoop.ipc.DecayRpcScheduler"),
            ],
        });
    }
    let is_backing_off = settings.ipc(port.number, "backoff.enable").is_some_and(|on| on.eq_ignore_ascii_case("true"));
    if port.queued >= places * FULL_SHARE && !is_backing_off {
        let has_service = settings.is_set_for_any("dfs.namenode.servicerpc-address");
        let apart = if has_service { "" } else { "; DataNodes share this port: give them their own port first" };
        report.add(Advice {
            name: "back-off",
            change: "Make clients retry later when the queue is full".to_owned(),
            confidence: Confidence::Certain,
            figures: vec![format!("queue length {:.0}, of a capacity of {places:.0}", port.queued)],
            why: "Without back-off, readers block on a full queue, and with them all connections.".to_owned(),
            brings: format!("other users' calls are served; calls are not lost, clients retry them{apart}"),
            lines: vec![Line::property(ConfigFile::CoreSite, &key("backoff.enable"), true)],
        });
    }
}
