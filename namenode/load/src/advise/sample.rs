//! Metrics of a NameNode over some seconds: `/jmx` at both ends, and the lock's queue length between.
//!
//! Counters of Hadoop's metrics are from two updates of their source ([`super::fresh`]), each with its own interval. An
//! average covers the time since the update before, ten seconds unless a setting says otherwise. Figures of the JVM are
//! never older than the request.

use std::collections::BTreeMap;

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

/// Metrics at both ends of the sampled time.
pub struct MetricsSample {
    pub begin: Beans,
    pub end: Beans,
    /// Seconds between the two.
    pub seconds: f64,
    /// Seconds between the two updates of a source, by its bean; a bean that is missing here has `seconds`.
    pub intervals: BTreeMap<String, f64>,
    /// Threads that waited for the lock of the name system, one number a request.
    pub waiting: Vec<f64>,
}

/// Metrics of one RPC server over the sampled time.
#[derive(Clone, Debug)]
pub struct Port {
    pub number: u16,
    /// Seconds between the two updates of these figures.
    pub seconds: f64,
    /// Calls per second.
    pub per_second: f64,
    /// Milliseconds a call, on average; None without calls.
    pub queue_ms: Option<f64>,
    pub processing_ms: Option<f64>,
    /// Milliseconds that a call waited for the lock, for calls that used it. Hadoop truncates to whole units, so the
    /// figure is rather too low than too high.
    pub lock_ms: Option<f64>,
    /// Calls in the queue at the end.
    pub queued: f64,
    /// Handlers that processed a call at the end.
    pub at_work: f64,
    /// Open connections at the end.
    pub connections: f64,
}

/// Hold times of the read lock or the write lock, from the detailed metrics.
pub struct Hold {
    /// Share of the sampled time.
    pub share: f64,
    /// Operation with the longest total hold time, and its share of the sampled time.
    pub longest: Option<(String, f64)>,
}

/// Queries of `/jmx` for the sources with counters that rules divide by an interval.
pub const SOURCES: [&str; 3] = [
    "Hadoop:service=NameNode,name=RpcActivityForPort*",
    "Hadoop:service=NameNode,name=NameNodeActivity",
    "Hadoop:service=NameNode,name=FSNamesystem",
];

/// Returns true for the bean of such a source.
pub fn is_source(name: &str) -> bool {
    name == FS || name == ACTIVITY || name.starts_with(RPC)
}

impl MetricsSample {
    fn now(&self, bean: &str, attribute: &str) -> Option<f64> {
        exact(&self.end, bean)?[attribute].as_f64()
    }

    fn change(&self, bean: &str, attribute: &str) -> Option<f64> {
        Some(self.now(bean, attribute)? - exact(&self.begin, bean)?[attribute].as_f64()?)
    }

    /// Returns the seconds between the begin and the end of a bean's figures.
    fn interval(&self, bean: &str) -> f64 {
        self.intervals.get(bean).copied().unwrap_or(self.seconds).max(1e-9)
    }

    fn text<'a>(&'a self, bean: &'a str, attribute: &str) -> Option<&'a str> {
        exact(&self.end, bean)?[attribute].as_str()
    }

    /// Returns `active`, `standby` or another HA state.
    pub fn state(&self) -> Option<&str> {
        self.text(STATUS, "State")
    }

    pub fn is_active(&self) -> bool {
        self.state() == Some("active")
    }

    pub fn version(&self) -> &str {
        self.text(INFO, "SoftwareVersion").unwrap_or("?")
    }

    /// Returns host and port of the NameNode's RPC server.
    pub fn address(&self) -> Option<(&str, u16)> {
        let (host, port) = self.text(STATUS, "HostAndPort")?.rsplit_once(':')?;
        Some((host, port.parse().ok()?))
    }

    pub fn cores(&self) -> f64 {
        self.now(SYSTEM, "AvailableProcessors").unwrap_or(1.0).max(1.0)
    }

    /// Returns this process's share of all processors' time.
    pub fn cpu_share(&self) -> Option<f64> {
        Some(self.change(SYSTEM, "ProcessCpuTime")? / 1e9 / self.seconds / self.cores())
    }

    /// Returns all processes' share of all processors' time, since the previous request to the JVM.
    pub fn machine_share(&self) -> Option<f64> {
        self.now(SYSTEM, "CpuLoad").or_else(|| self.now(SYSTEM, "SystemCpuLoad")).filter(|share| *share >= 0.0)
    }

    /// Returns the mean number of threads that waited for the lock.
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

    /// Returns the heartbeats that came too late in the sampled time.
    pub fn heartbeats_expired(&self) -> f64 {
        self.change(FS, "ExpiredHeartbeats").unwrap_or(0.0)
    }

    /// Returns the syncs of the edit log, and the mean milliseconds of each; None without syncs.
    pub fn syncs(&self) -> Option<(f64, f64)> {
        let count = self.change(ACTIVITY, "SyncsNumOps").filter(|count| *count > 0.0)?;
        Some((count, self.now(ACTIVITY, "SyncsAvgTime")?))
    }

    pub fn transactions_per_second(&self) -> Option<f64> {
        Some(self.change(ACTIVITY, "TransactionsNumOps")? / self.interval(ACTIVITY))
    }

    /// Returns the total milliseconds of each journal and the syncs, both since the NameNode started.
    pub fn journals(&self) -> Option<(&str, f64)> {
        Some((self.text(STATE, "TotalSyncTimes")?.trim(), self.now(STATE, "TotalSyncCount")?))
    }

    /// Returns a system property of the JVM, set by `-Dkey=value` or by the JVM itself.
    pub fn system_property(&self, key: &str) -> Option<&str> {
        let all = exact(&self.end, "java.lang:type=Runtime")?["SystemProperties"].as_array()?;
        all.iter().find(|pair| pair["key"] == key)?["value"].as_str()
    }

    pub fn heap_max_bytes(&self) -> Option<f64> {
        exact(&self.end, "java.lang:type=Memory")?["HeapMemoryUsage"]["max"].as_f64().filter(|bytes| *bytes > 0.0)
    }

    /// Returns the bytes in use after the last collection of the old generation.
    pub fn heap_live_bytes(&self) -> Option<f64> {
        let pools = self.end.named("java.lang:").filter(|bean| {
            bean["Type"] == "HEAP"
                && bean["Name"].as_str().is_some_and(|name| name.contains("Old Gen") || name == "Tenured Gen")
        });
        pools.filter_map(|bean| bean["CollectionUsage"]["used"].as_f64()).find(|bytes| *bytes > 0.0)
    }

    /// Returns, for each collector that stops all threads: its name, its share of the time, mean milliseconds of a
    /// collection.
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

    /// Returns the pauses of ten seconds or more since the JVM started.
    pub fn long_pauses(&self) -> Option<f64> {
        self.now("Hadoop:service=NameNode,name=JvmMetrics", "GcNumWarnThresholdExceeded")
    }

    /// Returns the metrics of each RPC server of the NameNode.
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
                seconds: self.interval(name),
                per_second: self.change(name, "RpcProcessingTimeNumOps")? / self.interval(name),
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

    /// Returns the RPC server for clients: the one at the NameNode's own address, else the busiest.
    pub fn client_port(&self, settings: &Settings) -> Option<Port> {
        let mut ports = self.ports(settings);
        ports.sort_by(|a, b| b.per_second.total_cmp(&a.per_second));
        let number = self.address().map(|(_, port)| port);
        let own = ports.iter().find(|port| Some(port.number) == number).cloned();
        own.or_else(|| ports.into_iter().next())
    }

    /// Returns the user with the most operations and their share, in the longest window of the NameNode's top list.
    pub fn top_user(&self) -> Option<(String, f64)> {
        let list: Value = serde_json::from_str(self.text(STATE, "TopUserOpCounts")?).ok()?;
        let windows = list["windows"].as_array()?;
        let window = windows.iter().max_by_key(|window| window["windowLenMs"].as_u64())?;
        let all = window["ops"].as_array()?.iter().find(|op| op["opType"] == "*")?;
        let total = all["totalCount"].as_f64().filter(|total| *total > 0.0)?;
        let top = all["topUsers"].as_array()?.first()?;
        Some((top["user"].as_str()?.to_owned(), top["count"].as_f64()? / total))
    }

    /// Returns the hold times of a kind of lock, Read or Write; None without
    /// `dfs.namenode.lock.detailed-metrics.enabled`.
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
            let share = seconds / self.interval(FS);
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
