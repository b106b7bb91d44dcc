//! What a cluster tells of a job that is done (docs/formats/job-facts.md), and the report that is made of it.
//!
//! Facts are a document of their own because the cluster's clients are Java programs and the rules of the report are the engine's:
//! there shall be one bottleneck rule.

mod report;

use std::collections::BTreeMap;

use serde::Deserialize;

pub use report::report_of;

pub const FACTS_FORMAT: &str = "yunti-job-facts/1";

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
    /// Of the jobs before this one in a chain, in order.
    #[serde(default)]
    pub before: Vec<JobFacts>,
}

#[derive(Debug, Default, Deserialize)]
pub struct Cluster {
    pub nodes: u32,
    pub processors: u32,
    pub memory_bytes: u64,
}

/// One attempt of a task; times are those of the cluster's own clock, 0 where nobody knows them.
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
    /// Of a reduce: when the last map output was there, and when they were merged.
    pub shuffled_unix_ms: u64,
    pub merged_unix_ms: u64,
    /// Hadoop's counters of the attempt, as far as a report needs them.
    pub counters: BTreeMap<String, u64>,
    /// What our stopwatches in the task counted.
    pub times_ms: BTreeMap<String, u64>,
}
