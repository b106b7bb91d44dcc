//! Lock rules: contention for the lock of the name system, and the lock with less of it.

use super::report::{Advice, Confidence, ConfigFile, Line, Report};
use super::sample::{Hold, MetricsSample, Port};
use super::settings::Settings;

const PROVIDER: &str = "dfs.namenode.lock.model.provider.class";
const FAIR: &str = "dfs.namenode.fslock.fair";
const DETAILED: &str = "dfs.namenode.lock.detailed-metrics.enabled";
const OURS: &str = "org.yunti.namenode.lock.";
/// Waiting threads, on average; one waits whenever two calls arrive at once.
const WAITING_MIN: f64 = 2.0;
/// Share of the handlers that wait.
const WAITING_SHARE_MIN: f64 = 0.05;
/// Share of a call's processing time spent waiting for the lock.
const TIME_SHARE_MIN: f64 = 0.3;
/// Share of the time that the write lock is held; more leaves no room for a peak.
const HELD_SHARE_MAX: f64 = 0.5;

/// Measurement behind the ratios: all runs of `make bench-namenode` in `benches/results/` with this mix.
const MEASURED: &str = "90 % getFileInfo, 10 % mkdirs, 100 and 300 connections, 2 cores that client and NameNode share; \
    benches/results, namenode-2026-11-23T1812, -24T0940, -24T1006. yunti nn bench measures it on your machine";

pub fn judge(settings: &Settings, sample: &MetricsSample, report: &mut Report) {
    if !sample.is_active() {
        return;
    }
    let Some(waiting) = sample.waiting_mean() else {
        report.not_checked("contention for the lock: /jmx has no FsLockQueueLength");
        return;
    };
    let port = sample.client_port(settings);
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
    match (sample.hold("Write"), sample.hold("Read")) {
        (Some(write), _) => long_hold(&write, report),
        (None, Some(_)) => {}
        (None, None) => report.not_checked(format!(
            "operations that hold the lock: add {} to hdfs-site.xml",
            Line::property(ConfigFile::HdfsSite, DETAILED, true).text
        )),
    }
}

fn figures(settings: &Settings, waiting: f64, port: Option<&Port>) -> Vec<String> {
    let mut figures =
        vec![format!("on average {waiting:.1} threads waited for the lock, of {:.0} handlers", settings.handlers())];
    if let Some(Port { lock_ms: Some(lock), processing_ms: Some(processing), .. }) = port
        && *lock > 0.0
    {
        figures.push(format!("a call waited {lock:.2} ms for it and was processed for {processing:.2} ms, on average"));
    }
    figures
}

fn phased(figures: Vec<String>, is_fair: bool) -> Advice {
    let why = if is_fair {
        "Stock's lock is fair: a waiting writer stops all later readers, and each of them is parked and woken."
    } else {
        "An unfair lock lets readers overtake writers, which wait long if there are many readers."
    };
    let brings = if is_fair {
        "measured, to this fair lock: 2.6 to 2.9 times the calls and 0.7 to 0.95 of the p99 of changes"
    } else {
        "measured, to this unfair lock: 0.9 to 1.1 times the calls, and 0.2 to 0.4 of the p99 of changes"
    };
    let brings = format!("{brings} ({MEASURED})");
    Advice {
        name: "lock-phased",
        change: "Use the lock of yunti-namenode.jar; put the jar into share/hadoop/hdfs/lib".to_owned(),
        confidence: Confidence::Likely,
        figures,
        why: why.to_owned(),
        brings,
        lines: vec![Line::property(ConfigFile::HdfsSite, PROVIDER, format_args!("{OURS}PhasedLockManager"))],
    }
}

fn unfair(figures: Vec<String>) -> Advice {
    Advice {
        name: "lock-unfair",
        change: "Or, without a plug-in: make the lock unfair".to_owned(),
        confidence: Confidence::Likely,
        figures,
        why: "A running thread takes an unfair lock at once; a fair lock goes to a thread that must be woken \
            first."
            .to_owned(),
        brings: format!(
            "measured, to this fair lock: 2.5 to 2.9 times the calls, and 1.75 to 5.7 times the p99 of changes \
                ({MEASURED})"
        ),
        lines: vec![Line::property(ConfigFile::HdfsSite, FAIR, false)],
    }
}

fn apart(figures: Vec<String>) -> Advice {
    Advice {
        name: "lock-global",
        change: "Use one lock for the name space and the blocks again".to_owned(),
        confidence: Confidence::Likely,
        figures,
        why: "Most calls need both separate locks, and wait in two queues.".to_owned(),
        brings: "1.3 to 1.7 times the calls in a mix of reads and few writes (2 cores); less where block reports are \
            most of the load"
            .to_owned(),
        lines: vec![Line::property(
            ConfigFile::HdfsSite,
            PROVIDER,
            "org.apache.hadoop.hdfs.server.namenode.fgl.GlobalFSNamesystemLock",
        )],
    }
}

fn long_hold(write: &Hold, report: &mut Report) {
    let Some((operation, share)) = write.longest.as_ref().filter(|_| write.share >= HELD_SHARE_MAX) else { return };
    report.add(Advice {
        name: "lock-held",
        change: format!("Make fewer calls of {operation}, or smaller ones"),
        confidence: Confidence::Certain,
        figures: vec![
            format!("the write lock was held {:.0} % of the time", write.share * 100.0),
            format!("{operation} held it {:.0} %", share * 100.0),
        ],
        why: "No other operation runs while it is held; no other lock shortens this.".to_owned(),
        brings: format!("at most {:.0} % of the time for others", share * 100.0),
        lines: Vec::new(),
    });
}
