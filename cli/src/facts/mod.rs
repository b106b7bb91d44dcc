//! Facts of a finished job on a cluster (docs/formats/job-facts.md), and their conversion to a report.
//!
//! Facts are a separate document, because the cluster's clients are Java programs and the engine has the report's
//! rules. So there is one bottleneck rule.

mod report;

use std::collections::BTreeMap;

use serde::Deserialize;

pub use report::report_of;

pub const FACTS_FORMAT: &str = "yunti-job-facts/1";

/// Facts of one job: its counters, its cluster and the attempts of its tasks.
#[derive(Debug, Default, Deserialize)]
pub struct JobFacts {
    pub id: String,
    pub name: String,
    /// succeeded, failed, killed.
    pub state: String,
    pub submitted_unix_ms: u64,
    pub finished_unix_ms: u64,
    pub reduces: u32,
    pub output: Option<String>,
    pub map_container_bytes: u64,
    pub reduce_container_bytes: u64,
    pub cluster: Cluster,
    pub counters: BTreeMap<String, BTreeMap<String, u64>>,
    pub attempts: Vec<Attempt>,
    /// Facts of the previous jobs in a chain, in order.
    #[serde(default)]
    pub before: Vec<JobFacts>,
}

#[derive(Debug, Default, Deserialize)]
pub struct Cluster {
    pub nodes: u32,
    pub processors: u32,
    pub memory_bytes: u64,
}

/// One attempt of a task. Times are from the cluster's clock; 0 if unknown.
#[derive(Debug, Default, Deserialize)]
pub struct Attempt {
    pub id: String,
    /// map, reduce.
    pub kind: String,
    /// succeeded, failed, killed.
    pub state: String,
    pub node: String,
    pub start_unix_ms: u64,
    pub elapsed_ms: u64,
    /// Times at which a reduce had fetched the last map output, and had merged the outputs.
    pub shuffled_unix_ms: u64,
    pub merged_unix_ms: u64,
    /// Hadoop's counters of the attempt that a report needs.
    pub counters: BTreeMap<String, u64>,
    /// Times of Yunti's stopwatches in the task; empty for tasks of stock Hadoop.
    pub times_ms: BTreeMap<String, u64>,
}
