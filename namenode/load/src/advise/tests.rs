//! Rules on recorded documents of stock NameNodes 3.5.0 on two processors under `yunti nn load`, cut to the
//! attributes in use. Tests write into them what a small machine does not have: DataNodes, a large heap.

use serde_json::{Value, json};

use super::judge;
use super::report::{Confidence, Report};
use super::sample::MetricsSample;
use super::settings::Settings;
use crate::jmx::Beans;

/// Contention: 150 connections, 80 % getFileInfo, 20 % mkdirs; a fair lock, 100 handlers, one reader.
const LOCK: [&str; 2] = [include_str!("recorded/lock_begin.json"), include_str!("recorded/lock_end.json")];
/// Slow edits: 100 connections, half of the calls mkdirs; `dfs.namenode.edits.asynclogging=false`, ten handlers, 64 MB.
const SLOW_EDITS: [&str; 2] =
    [include_str!("recorded/slow_edits_begin.json"), include_str!("recorded/slow_edits_end.json")];

const STATE: &str = "Hadoop:service=NameNode,name=FSNamesystemState";
const FS: &str = "Hadoop:service=NameNode,name=FSNamesystem";
/// Settings without a problem.
const WELL: [(&str, &str); 3] = [
    ("dfs.namenode.lock.model.provider.class", "org.yunti.namenode.lock.PhasedLockManager"),
    ("ipc.server.read.threadpool.size", "5"),
    ("dfs.namenode.handler.count", "200"),
];

/// Returns a sample; each change of the document at the end has a prefix of a bean's name, an attribute and a value.
fn sample(texts: [&str; 2], waiting: f64, changes: &[(&str, &str, Value)]) -> MetricsSample {
    let mut end: Value = serde_json::from_str(texts[1]).unwrap();
    for (bean, attribute, value) in changes {
        let beans = end["beans"].as_array_mut().unwrap();
        let found = beans.iter_mut().find(|b| b["name"].as_str().unwrap().starts_with(bean));
        found.unwrap_or_else(|| panic!("no {bean}"))[*attribute] = value.clone();
    }
    MetricsSample {
        begin: Beans::read(texts[0]).unwrap(),
        end: Beans::read(&end.to_string()).unwrap(),
        seconds: 12.0,
        intervals: std::collections::BTreeMap::new(),
        waiting: vec![waiting; 60],
    }
}

fn check(settings: &[(&str, &str)], sample: &MetricsSample, expect: &[&str]) -> Report {
    let report = judge(&Settings::of(settings), sample);
    let names: Vec<&str> = report.advice.iter().map(|advice| advice.name).collect();
    assert_eq!(names, expect, "{}", report.to_text());
    report
}

#[test]
fn advises_on_a_fair_lock() {
    let convoy = sample(LOCK, 18.0, &[]);
    let settings = [("dfs.namenode.handler.count", "100"), ("ipc.server.read.threadpool.size", "1")];
    let report = check(&settings, &convoy, &["lock-phased", "lock-unfair", "readers"]);
    assert_eq!((report.advice[0].confidence, report.advice[1].confidence), (Confidence::Likely, Confidence::Likely));
    // What a change brings is a measured ratio with its source.
    for advice in &report.advice[..2] {
        assert!(advice.brings.starts_with("measured, ") && advice.brings.contains("benches/results"), "{advice:?}");
    }
    assert_eq!(report.advice[1].figures[0], "on average 18.0 threads waited for the lock, of 100 handlers");
    assert_eq!(
        report.advice[1].lines[0].text,
        "<property><name>dfs.namenode.fslock.fair</name><value>false</value></property>"
    );
    // The lock is unfair already, or ours.
    let unfair = [settings[0], ("ipc.server.read.threadpool.size", "5"), ("dfs.namenode.fslock.fair", "false")];
    assert_eq!(check(&unfair, &convoy, &["lock-phased"]).advice[0].confidence, Confidence::Likely);
    check(&WELL, &convoy, &[]);
    // A small share of the handlers waits, with most of a call's time or with little of it.
    check(&settings, &sample(LOCK, 2.1, &[]), &["lock-phased", "lock-unfair", "readers"]);
    let port = "Hadoop:service=NameNode,name=RpcActivityForPort";
    check(&settings, &sample(LOCK, 2.1, &[(port, "RpcLockWaitTimeAvgTime", json!(0.1))]), &["readers"]);
    // No contention.
    check(&settings, &sample(LOCK, 1.0, &[]), &["readers"]);
    let apart = (
        "dfs.namenode.lock.model.provider.class",
        "org.apache.hadoop.hdfs.server.namenode.fgl.FineGrainedFSNamesystemLock",
    );
    check(&[apart, unfair[0], unfair[1]], &convoy, &["lock-global"]);
}

#[test]
fn advises_on_handlers_that_wait_for_the_disk() {
    let waiting = sample(SLOW_EDITS, 1.1, &[]);
    let settings = [("dfs.namenode.edits.asynclogging", "false")];
    let report = check(&settings, &waiting, &["readers", "handlers", "heap", "async-edits"]);
    // Both processors were busy.
    assert_eq!(report.advice[1].confidence, Confidence::Try);
    check(&[], &waiting, &["readers", "handlers", "heap"]);
    let activity = "Hadoop:service=NameNode,name=NameNodeActivity";
    let slow = sample(SLOW_EDITS, 1.1, &[(activity, "SyncsAvgTime", json!(45.0))]);
    let report = check(&WELL, &slow, &["heap", "slow-journal"]);
    assert!(report.advice[1].figures[1].contains("11279 ms"), "{:?}", report.advice[1].figures);
}

#[test]
fn advises_a_larger_heap() {
    let gb = f64::from(1 << 30);
    let many = [
        (FS, "BlocksTotal", json!(40_000_000)),
        ("java.lang:type=Memory", "HeapMemoryUsage", json!({ "max": 16.0 * gb })),
        ("java.lang:name=G1 Old Gen,", "CollectionUsage", json!({ "used": 15.0 * gb })),
    ];
    let report = check(&WELL, &sample(LOCK, 0.0, &many), &["heap"]);
    assert_eq!(report.advice[0].confidence, Confidence::Certain);
    assert!(report.advice[0].lines[0].text.contains("-Xms38g -Xmx38g"), "{:?}", report.advice[0].lines);
    let old = [
        ("java.lang:type=Memory", "HeapMemoryUsage", json!({ "max": 64.0 * gb })),
        ("java.lang:name=G1 Old Generation", "Name", json!("PS MarkSweep")),
    ];
    check(&WELL, &sample(LOCK, 0.0, &old), &["collector"]);
}

#[test]
fn advises_ports_for_datanodes() {
    let stale = [(STATE, "NumLiveDataNodes", json!(3000)), (STATE, "NumStaleDataNodes", json!(7))];
    let crowd = sample(LOCK, 0.0, &stale);
    let report = check(&WELL, &crowd, &["service-rpc", "lifeline"]);
    assert!(report.advice[0].lines[0].text.contains("<value>localhost:8040</value>"));
    let own = [
        WELL[0],
        WELL[1],
        WELL[2],
        ("dfs.namenode.servicerpc-address.ns1.nn1", "nn1:8040"),
        ("dfs.namenode.lifeline.rpc-address", "nn1:8050"),
    ];
    check(&own, &crowd, &[]);
    // 20 ln(DataNodes).
    let few = [WELL[0], WELL[1], own[3], own[4], ("dfs.namenode.handler.count", "20")];
    let port = "Hadoop:service=NameNode,name=RpcActivityForPort";
    let full = [stale[0].clone(), (port, "CallQueueLength", json!(1500))];
    let report = check(&few, &sample(LOCK, 0.0, &full), &["handlers", "back-off"]);
    assert!(report.advice[0].change.contains("161 handlers"), "{}", report.advice[0].change);
}

#[test]
fn advises_a_fair_queue_against_one_user() {
    let top = json!({ "windows": [{ "windowLenMs": 60000, "ops": [{ "opType": "*", "totalCount": 1000,
        "topUsers": [{ "user": "etl", "count": 900 }, { "user": "eve", "count": 100 }] }] }] });
    let crowd = sample(LOCK, 0.0, &[(STATE, "TopUserOpCounts", json!(top.to_string()))]);
    let report = check(&WELL, &crowd, &["fair-call-queue"]);
    assert_eq!(report.advice[0].figures[1], "etl made 90 % of the operations");
    let fair = [WELL[0], WELL[1], WELL[2], ("ipc.callqueue.impl", "org.apache.hadoop.ipc.FairCallQueue")];
    check(&fair, &crowd, &[]);
}

#[test]
fn advises_on_the_audit_appender() {
    let port = "Hadoop:service=NameNode,name=RpcActivityForPort";
    let with = |appender: &str| {
        let properties = json!([{ "key": "hdfs.audit.logger", "value": appender }]);
        let changes = [
            (port, "RpcProcessingTimeNumOps", json!(600_000)),
            ("java.lang:type=Runtime", "SystemProperties", properties),
        ];
        sample(LOCK, 0.0, &changes)
    };
    check(&WELL, &with("INFO,NullAppender"), &[]);
    assert_eq!(check(&WELL, &with("INFO,RFAAUDIT"), &["audit"]).advice[0].confidence, Confidence::Try);
    assert_eq!(check(&WELL, &with("INFO,AsyncRFAAppender"), &["audit"]).advice[0].confidence, Confidence::Likely);
    let ours = [WELL[0], WELL[1], WELL[2], ("dfs.namenode.audit.loggers", "org.yunti.namenode.audit.RingAuditLogger")];
    check(&ours, &with("INFO,RFAAUDIT"), &[]);
}

/// The rate of a source counts over its own interval, not over the time of the two requests.
#[test]
fn divides_by_the_interval_of_a_source() {
    let settings = Settings::of(&WELL);
    let mut sample = sample(LOCK, 0.0, &[]);
    let port = sample.client_port(&settings).unwrap();
    assert_eq!(port.seconds, 12.0);
    sample.intervals.insert(format!("Hadoop:service=NameNode,name=RpcActivityForPort{}", port.number), 6.0);
    let halved = sample.client_port(&settings).unwrap();
    assert_eq!((halved.seconds, halved.per_second), (6.0, port.per_second * 2.0));
}

#[test]
fn reports_rules_that_cannot_be_checked() {
    let status = "Hadoop:service=NameNode,name=NameNodeStatus";
    let standby = sample(LOCK, 18.0, &[(status, "State", json!("standby"))]);
    assert!(check(&[], &standby, &[]).not_checked[0].contains("this NameNode is standby"));
    let idle = sample([LOCK[1], LOCK[1]], 0.0, &[]);
    assert_eq!(check(&[], &idle, &[]).not_checked, ["advice on load: there was no load"]);
    assert!(check(&[], &idle, &[]).to_text().contains("No change is advised."));
}
