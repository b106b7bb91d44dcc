//! The lock of the name system: is it waited for, and would another be waited for less?

use super::report::{Advice, Line, Place, Report, Sure};
use super::seen::{Hold, Port, Seen};
use super::settings::Settings;

const PROVIDER: &str = "dfs.namenode.lock.model.provider.class";
const FAIR: &str = "dfs.namenode.fslock.fair";
const DETAILED: &str = "dfs.namenode.lock.detailed-metrics.enabled";
const OURS: &str = "org.yunti.namenode.lock.";
/// Two that wait on average: one is there whenever two calls come at once.
const WAITING_MIN: f64 = 2.0;
/// Either so many of all handlers wait, or a call spends so much of its time with it.
const WAITING_SHARE_MIN: f64 = 0.05;
const TIME_SHARE_MIN: f64 = 0.3;
/// One kind of lock that is held more than this has no room for a peak.
const HELD_SHARE_MAX: f64 = 0.5;

pub fn judge(settings: &Settings, seen: &Seen, report: &mut Report) {
    if !seen.is_active() {
        return;
    }
    let Some(waiting) = seen.waiting_mean() else {
        report.unseen("how many threads wait for the lock: FsLockQueueLength is not told");
        return;
    };
    let port = seen.client_port(settings);
    let time_share = port.as_ref().and_then(|port| Some(port.lock_ms? / port.processing_ms?.max(1e-9))).unwrap_or(0.0);
    if waiting < WAITING_MIN || waiting < settings.handlers() * WAITING_SHARE_MIN && time_share < TIME_SHARE_MIN {
        return;
    }
    let figures = figures(settings, waiting, port.as_ref());
    let provider = settings.get(PROVIDER).unwrap_or_default();
    let is_ours = provider.starts_with(OURS);
    if provider.ends_with(".FineGrainedFSNamesystemLock") {
        report.add(apart(figures));
    } else if !is_ours {
        let is_fair = settings.is(FAIR, true);
        report.add(phased(figures.clone(), is_fair));
        if is_fair {
            report.add(unfair(figures));
        }
    }
    match (seen.hold("Write"), seen.hold("Read")) {
        (Some(write), _) => held(&write, report),
        (None, Some(_)) => {}
        (None, None) => report.unseen(format!(
            "which operations hold the lock: add {} to hdfs-site.xml",
            Line::property(Place::HdfsSite, DETAILED, true).text
        )),
    }
}

fn figures(settings: &Settings, waiting: f64, port: Option<&Port>) -> Vec<String> {
    let mut figures =
        vec![format!("on average {waiting:.1} threads waited for the lock, of {:.0} handlers", settings.handlers())];
    if let Some(Port { lock_ms: Some(lock), processing_ms: Some(processing), .. }) = port
        && *lock > 0.0
    {
        figures.push(format!("a call waited {lock:.2} ms for it and was worked on for {processing:.2} ms, on average"));
    }
    figures
}

fn phased(seen: Vec<String>, is_fair: bool) -> Advice {
    let why = if is_fair {
        "Stock's lock is fair: each writer that waits stops all readers that come after it, and each of them is parked and woken."
    } else {
        "Without fairness readers that come overtake writers, which wait long where there are many readers."
    };
    let brings = if is_fair {
        "more than the unfair lock below, which brings 1.3 to 1.6 times the calls; writes wait less than with it (2 cores, 90 % getFileInfo, 10 % mkdirs)"
    } else {
        "1.1 to 1.7 times the calls and a third of the p99 of writes at 99 % reads, about the same at 90 % (2 cores, 100 connections)"
    };
    Advice {
        name: "lock-phased",
        change: "Take the lock of yunti-namenode.jar; put the jar into share/hadoop/hdfs/lib".to_owned(),
        sure: if is_fair { Sure::Certain } else { Sure::Likely },
        seen,
        why: why.to_owned(),
        brings: brings.to_owned(),
        lines: vec![Line::property(Place::HdfsSite, PROVIDER, format_args!("{OURS}PhasedLockManager"))],
    }
}

fn unfair(seen: Vec<String>) -> Advice {
    Advice {
        name: "lock-unfair",
        change: "Or, without a plug-in: make the lock unfair".to_owned(),
        sure: Sure::Certain,
        seen,
        why: "A thread that runs takes the lock, where a fair one is handed to a thread that has to be woken first.".to_owned(),
        brings: "1.3 to 1.6 times the calls; the price is the p99 of writes, 41 to 54-75 ms at 300 connections (2 cores, 90 % getFileInfo)".to_owned(),
        lines: vec![Line::property(Place::HdfsSite, FAIR, false)],
    }
}

fn apart(seen: Vec<String>) -> Advice {
    Advice {
        name: "lock-global",
        change: "Go back to one lock of names and blocks".to_owned(),
        sure: Sure::Likely,
        seen,
        why: "Most calls need both of the locks that are apart, and wait in two queues.".to_owned(),
        brings: "1.3 to 1.7 times the calls in a mix of reads and few writes (2 cores); less where block reports are most of the load".to_owned(),
        lines: vec![Line::property(
            Place::HdfsSite,
            PROVIDER,
            "org.apache.hadoop.hdfs.server.namenode.fgl.GlobalFSNamesystemLock",
        )],
    }
}

fn held(write: &Hold, report: &mut Report) {
    let Some((operation, share)) = write.longest.as_ref().filter(|_| write.share >= HELD_SHARE_MAX) else { return };
    report.add(Advice {
        name: "lock-held",
        change: format!("Have fewer calls of {operation}, or smaller ones"),
        sure: Sure::Certain,
        seen: vec![
            format!("the write lock was held {:.0} % of the time", write.share * 100.0),
            format!("{operation} held it {:.0} %", share * 100.0),
        ],
        why: "While it is held nothing else is done; no lock makes this shorter.".to_owned(),
        brings: format!("at most {:.0} % of the time for others", share * 100.0),
        lines: Vec::new(),
    });
}
