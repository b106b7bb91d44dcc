//! What a NameNode told of itself: `/jmx` at the beginning and at the end, and how many waited for its lock between.
//!
//! Averages of Hadoop's metrics are of the time since they were last asked for, and are kept for ten seconds; so those of the
//! end are of the time that was looked at, where that is longer.

use serde_json::Value;

use super::settings::Settings;
use crate::jmx::Beans;

const FS: &str = "Hadoop:service=NameNode,name=FSNamesystem";
const STATE: &str = "Hadoop:service=NameNode,name=FSNamesystemState";
const STATUS: &str = "Hadoop:service=NameNode,name=NameNodeStatus";
const INFO: &str = "Hadoop:service=NameNode,name=NameNodeInfo";
const ACTIVITY: &str = "Hadoop:service=NameNode,name=NameNodeActivity";
const RPC: &str = "Hadoop:service=NameNode,name=RpcActivityForPort";
const SYSTEM: &str = "java.lang:type=OperatingSystem";

pub struct Seen {
    pub begin: Beans,
    pub end: Beans,
    /// Between them.
    pub seconds: f64,
    /// Threads that waited for the lock of the name system, each time it was asked.
    pub waiting: Vec<f64>,
}

/// Of an RPC server while it was looked at.
#[derive(Clone, Debug)]
pub struct Port {
    pub number: u16,
    pub per_second: f64,
    /// Milliseconds a call, on average; None without calls.
    pub queue_ms: Option<f64>,
    pub processing_ms: Option<f64>,
    /// Of each call that used the lock. Whole units are counted, so it is too low rather than too high.
    pub lock_ms: Option<f64>,
    /// Calls that were in the queue at the end, and handlers that were at work.
    pub queued: f64,
    pub at_work: f64,
    pub connections: f64,
}

/// How long one kind of lock was held, of detailed metrics.
pub struct Hold {
    /// Of the time that was looked at.
    pub share: f64,
    /// What held it longest in sum, and its share.
    pub longest: Option<(String, f64)>,
}

impl Seen {
    fn now(&self, bean: &str, attribute: &str) -> Option<f64> {
        exact(&self.end, bean)?[attribute].as_f64()
    }

    fn change(&self, bean: &str, attribute: &str) -> Option<f64> {
        Some(self.now(bean, attribute)? - exact(&self.begin, bean)?[attribute].as_f64()?)
    }

    fn text<'a>(&'a self, bean: &'a str, attribute: &str) -> Option<&'a str> {
        exact(&self.end, bean)?[attribute].as_str()
    }

    pub fn state(&self) -> Option<&str> {
        self.text(STATUS, "State")
    }

    pub fn is_active(&self) -> bool {
        self.state() == Some("active")
    }

    pub fn version(&self) -> &str {
        self.text(INFO, "SoftwareVersion").unwrap_or("?")
    }

    /// Host and port of its RPC.
    pub fn address(&self) -> Option<(&str, u16)> {
        let (host, port) = self.text(STATUS, "HostAndPort")?.rsplit_once(':')?;
        Some((host, port.parse().ok()?))
    }

    pub fn cores(&self) -> f64 {
        self.now(SYSTEM, "AvailableProcessors").unwrap_or(1.0).max(1.0)
    }

    /// Of all processors, by this process.
    pub fn cpu_share(&self) -> Option<f64> {
        Some(self.change(SYSTEM, "ProcessCpuTime")? / 1e9 / self.seconds / self.cores())
    }

    /// Of all processors, by all processes; the JVM tells it of the time since it was last asked.
    pub fn machine_share(&self) -> Option<f64> {
        self.now(SYSTEM, "CpuLoad").or_else(|| self.now(SYSTEM, "SystemCpuLoad")).filter(|share| *share >= 0.0)
    }

    pub fn waiting_mean(&self) -> Option<f64> {
        (!self.waiting.is_empty()).then(|| self.waiting.iter().sum::<f64>() / self.waiting.len() as f64)
    }

    pub fn files(&self) -> f64 {
        self.now(FS, "FilesTotal").or_else(|| self.now(STATE, "FilesTotal")).unwrap_or(0.0)
    }

    pub fn blocks(&self) -> f64 {
        self.now(FS, "BlocksTotal").or_else(|| self.now(STATE, "BlocksTotal")).unwrap_or(0.0)
    }

    pub fn live_datanodes(&self) -> f64 {
        self.now(STATE, "NumLiveDataNodes").unwrap_or(0.0)
    }

    pub fn stale_datanodes(&self) -> f64 {
        self.now(STATE, "NumStaleDataNodes").unwrap_or(0.0)
    }

    pub fn heartbeats_expired(&self) -> f64 {
        self.change(FS, "ExpiredHeartbeats").unwrap_or(0.0)
    }

    /// Waits for the edit log to be on disk: how many, milliseconds of each.
    pub fn syncs(&self) -> Option<(f64, f64)> {
        let count = self.change(ACTIVITY, "SyncsNumOps").filter(|count| *count > 0.0)?;
        Some((count, self.now(ACTIVITY, "SyncsAvgTime")?))
    }

    pub fn transactions_per_second(&self) -> Option<f64> {
        Some(self.change(ACTIVITY, "TransactionsNumOps")? / self.seconds)
    }

    /// Milliseconds of each journal, since the NameNode started, and syncs since then.
    pub fn journals(&self) -> Option<(&str, f64)> {
        Some((self.text(STATE, "TotalSyncTimes")?.trim(), self.now(STATE, "TotalSyncCount")?))
    }

    /// `-Dkey=value` and all that the JVM knows by itself.
    pub fn system_property(&self, key: &str) -> Option<&str> {
        let all = exact(&self.end, "java.lang:type=Runtime")?["SystemProperties"].as_array()?;
        all.iter().find(|pair| pair["key"] == key)?["value"].as_str()
    }

    pub fn heap_max_bytes(&self) -> Option<f64> {
        exact(&self.end, "java.lang:type=Memory")?["HeapMemoryUsage"]["max"].as_f64().filter(|bytes| *bytes > 0.0)
    }

    /// What was left of old objects after the last collection that looked at them.
    pub fn heap_live_bytes(&self) -> Option<f64> {
        let pools = self.end.named("java.lang:").filter(|bean| {
            bean["Type"] == "HEAP"
                && bean["Name"].as_str().is_some_and(|name| name.contains("Old Gen") || name == "Tenured Gen")
        });
        pools.filter_map(|bean| bean["CollectionUsage"]["used"].as_f64()).find(|bytes| *bytes > 0.0)
    }

    /// Name, share of the time, milliseconds of each, of each collector that stops the world.
    pub fn collectors(&self) -> Vec<(String, f64, f64)> {
        let stops = |bean: &&Value| {
            let name = bean["Name"].as_str().unwrap_or_default();
            bean["CollectionTime"].is_number() && !name.contains("Cycles") && !name.contains("Concurrent")
        };
        let beans = self.end.named("java.lang:").filter(stops);
        beans
            .filter_map(|bean| {
                let name = bean["name"].as_str()?;
                let ms = self.change(name, "CollectionTime")?;
                let count = self.change(name, "CollectionCount")?;
                Some((
                    bean["Name"].as_str()?.to_owned(),
                    ms / 1e3 / self.seconds,
                    if count > 0.0 { ms / count } else { 0.0 },
                ))
            })
            .collect()
    }

    /// Pauses of the JVM of ten seconds and more, since it started.
    pub fn long_pauses(&self) -> Option<f64> {
        self.now("Hadoop:service=NameNode,name=JvmMetrics", "GcNumWarnThresholdExceeded")
    }

    pub fn ports(&self, settings: &Settings) -> Vec<Port> {
        let to_ms = match settings.get("rpc.metrics.timeunit").map(str::to_ascii_uppercase).as_deref() {
            Some("NANOSECONDS") => 1e-6,
            Some("MICROSECONDS") => 1e-3,
            Some("SECONDS") => 1e3,
            _ => 1.0,
        };
        let port = |bean: &Value| {
            let name = bean["name"].as_str()?;
            let mean = |what: &str| {
                self.change(name, &format!("{what}NumOps")).filter(|count| *count > 0.0)?;
                Some(bean[format!("{what}AvgTime")].as_f64()? * to_ms)
            };
            Some(Port {
                number: name.strip_prefix(RPC)?.parse().ok()?,
                per_second: self.change(name, "RpcProcessingTimeNumOps")? / self.seconds,
                queue_ms: mean("RpcQueueTime"),
                processing_ms: mean("RpcProcessingTime"),
                lock_ms: mean("RpcLockWaitTime"),
                queued: bean["CallQueueLength"].as_f64()?,
                at_work: bean["NumInProcessHandler"].as_f64().unwrap_or(0.0),
                connections: bean["NumOpenConnections"].as_f64().unwrap_or(0.0),
            })
        };
        self.end.named(RPC).filter_map(port).collect()
    }

    /// The one that clients call.
    pub fn client_port(&self, settings: &Settings) -> Option<Port> {
        let mut ports = self.ports(settings);
        ports.sort_by(|a, b| b.per_second.total_cmp(&a.per_second));
        let number = self.address().map(|(_, port)| port);
        let own = ports.iter().find(|port| Some(port.number) == number).cloned();
        own.or_else(|| ports.into_iter().next())
    }

    /// Who made the most calls, and of how many, in the longest window of the NameNode's own list.
    pub fn top_user(&self) -> Option<(String, f64)> {
        let list: Value = serde_json::from_str(self.text(STATE, "TopUserOpCounts")?).ok()?;
        let windows = list["windows"].as_array()?;
        let window = windows.iter().max_by_key(|window| window["windowLenMs"].as_u64())?;
        let all = window["ops"].as_array()?.iter().find(|op| op["opType"] == "*")?;
        let total = all["totalCount"].as_f64().filter(|total| *total > 0.0)?;
        let top = all["topUsers"].as_array()?.first()?;
        Some((top["user"].as_str()?.to_owned(), top["count"].as_f64()? / total))
    }

    /// None without `dfs.namenode.lock.detailed-metrics.enabled`. `kind` is Read or Write.
    pub fn hold(&self, kind: &str) -> Option<Hold> {
        let begin = format!("FSN{kind}Lock");
        let bean = exact(&self.end, FS)?.as_object()?;
        let mut hold: Option<Hold> = None;
        for key in bean.keys() {
            let Some(operation) = key.strip_prefix(&begin).and_then(|rest| rest.strip_suffix("NanosNumOps")) else {
                continue;
            };
            let seconds = self.change(FS, key).unwrap_or(0.0)
                * self.now(FS, &format!("{begin}{operation}NanosAvgTime")).unwrap_or(0.0)
                / 1e9;
            let share = seconds / self.seconds;
            let hold = hold.get_or_insert(Hold { share: 0.0, longest: None });
            if operation == "Overall" {
                hold.share = share;
            } else if share > hold.longest.as_ref().map_or(0.0, |(_, most)| *most) {
                hold.longest = Some((operation.to_owned(), share));
            }
        }
        hold
    }
}

fn exact<'a>(beans: &'a Beans, name: &'a str) -> Option<&'a Value> {
    beans.named(name).find(|bean| bean["name"] == *name)
}
