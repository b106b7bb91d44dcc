//! The job report: what was done, how fast, and what bounded it (schema: docs/formats/report.schema.json).

pub mod advice;
pub mod bottleneck;
pub mod build;
pub mod limits;
pub mod memory_trace;
pub mod meter;
pub mod partitions;
pub mod workload_stats;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The value of `format`: the number changes when a field changes its meaning; fields may be added without.
pub const REPORT_FORMAT: &str = "yunti-report/1";

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Report {
    pub format: String,
    pub job: JobInfo,
    pub machine: Machine,
    /// What was read, as files; on a cluster nobody tells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<Input>,
    /// In the order of a record's journey.
    pub stages: Vec<Stage>,
    pub workers: Vec<Worker>,
    /// Of a job on a cluster: each attempt of its tasks, and the worker is a place for one container.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tasks: Vec<TaskRow>,
    pub memory: Memory,
    pub spill: Spill,
    /// How evenly the partitions (in mode none: the splits) were filled, where it was counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub partitions: Option<Partitions>,
    /// What its files took, by the place that they had in the job; not of a cluster's job.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<FileUse>,
    /// How large the groups of a reducer were, and what they took.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub groups: Option<GroupUse>,
    /// What the machine kept from the job.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waits: Option<Waits>,
    /// Group, then name; Hadoop's own names where it has the counter.
    pub counters: BTreeMap<String, BTreeMap<String, u64>>,
    pub bottleneck: Bottleneck,
    /// What to change, the most useful first; empty where nothing stands out.
    #[serde(default)]
    pub advice: Vec<Advice>,
    /// Of the last job of a chain: the reports of those before it, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub before: Vec<Report>,
    /// Bytes of outputs between the jobs of a chain that had no room in memory.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub held_spilled_bytes: u64,
}

fn is_zero(n: &u64) -> bool {
    *n == 0
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct JobInfo {
    pub name: String,
    /// On a cluster: what it calls the job, and how the job ended: succeeded, failed, killed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<String>,
    pub version: String,
    pub mode: String,
    pub reduces: u32,
    pub splits: u64,
    pub threads: u32,
    pub started_unix_ms: u64,
    pub wall_ms: f64,
    /// Processor time of the process for this job: user and system.
    pub cpu_ms: f64,
    pub input_bytes: u64,
    pub input_records: u64,
    pub output_bytes: u64,
    pub output_records: u64,
    pub output: Option<String>,
    /// What makes the bytes of the output, where that is more than laying them out: a codec with its level, or a class.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_by: Option<String>,
    /// mapper, combiner, reducer, folder, partitioner, writer: the names of those that the job has.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub classes: BTreeMap<String, String>,
}

/// What was read, as files.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Input {
    pub files: u64,
    pub split_bytes: u64,
    /// Codec, then how many files have it.
    pub compressed: BTreeMap<String, u64>,
    /// Files longer than a split that one task had to read from start to end.
    pub whole_files: u64,
    pub whole_bytes: u64,
    /// The longest of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub longest_whole: Option<WholeFile>,
    /// The largest of the records for which a reader's buffer had to grow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub largest_record: Option<LargeRecord>,
}

/// A record that did not fit into a reader's buffer.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LargeRecord {
    pub path: String,
    /// In the decompressed file.
    pub offset: u64,
    /// It is longer than this, and at most twice as long.
    pub bytes_least: u64,
}

/// What the files of one place took. The times are those of all workers together.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FileUse {
    /// input, output, scratch.
    pub place: String,
    /// Of inputs, that of the first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub directory: Option<String>,
    pub opened: u64,
    /// Finding, opening and making them.
    pub open_ms: f64,
    pub read_bytes: u64,
    pub read_ms: f64,
    pub written_bytes: u64,
    pub write_ms: f64,
    /// Left on the file system when the job ended, where it wrote there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub free_bytes: Option<u64>,
}

/// The groups that a reducer was given.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct GroupUse {
    pub largest_records: u64,
    pub largest_partition: u32,
    /// The beginning of its key, where keys are bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub largest_key: Option<String>,
    /// The reducer's time by the size of groups, sizes by powers of two.
    pub sizes: Vec<GroupSize>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct GroupSize {
    /// Groups of so many records, and of less than twice as many. Small ones come together and count by their mean.
    pub records_least: u64,
    pub records: u64,
    pub busy_ms: f64,
}

/// Time and processors that the job wanted and others had.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Waits {
    /// Threads were ready to run and had no processor, all threads together.
    pub processor_ms: f64,
    /// Processors that a control group allows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quota_processors: Option<f64>,
    /// Periods of that quota in which there was something to run, and those in which it was used up.
    pub quota_periods: u64,
    pub throttled_periods: u64,
    /// Bytes that the process moved from and to disks.
    pub disk_read_bytes: u64,
    pub disk_written_bytes: u64,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct WholeFile {
    pub path: String,
    pub bytes: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub codec: Option<String>,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Machine {
    pub cpu: String,
    pub processors: u32,
    pub memory_bytes: u64,
    pub simd: String,
}

/// One stage of the journey, summed over all workers.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Stage {
    /// read, map, collect, fold, spill, sort, merge, reduce, encode, write.
    pub name: String,
    pub bytes: u64,
    pub records: u64,
    /// Worker time spent in it, all workers together.
    pub busy_ms: f64,
    /// bytes / busy time: what one worker moves.
    pub mb_per_s: f64,
    /// What `yunti machine limits` measured on this machine for the resource that this stage uses, if it ran; MB/s for one worker.
    pub limit_mb_per_s: Option<f64>,
    /// The resource: cpu, memory, disk_read, disk_write.
    pub resource: String,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Worker {
    pub number: u32,
    pub busy_ms: f64,
    pub spans: Vec<Span>,
}

/// A task on a worker's timeline.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Span {
    /// map, spill, sort, merge, reduce, commit, wait.
    pub kind: String,
    pub task: u64,
    pub start_ms: f64,
    pub end_ms: f64,
    pub bytes: u64,
    pub records: u64,
}

/// One attempt of a task on a cluster.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct TaskRow {
    pub id: String,
    /// map, reduce.
    pub kind: String,
    /// succeeded, failed, killed.
    pub state: String,
    pub node: String,
    /// Since the job began.
    pub start_ms: f64,
    pub elapsed_ms: f64,
    pub cpu_ms: f64,
    /// By the names of the stages. They lie side by side: what is missing of the elapsed time, nobody measured.
    pub stages_ms: BTreeMap<String, f64>,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Memory {
    pub budget_bytes: u64,
    pub peak_bytes: u64,
    /// Largest resident size of the whole process, file pages included.
    pub peak_resident_bytes: u64,
    /// The budget in use over time; some hundred samples at most.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub samples: Vec<MemorySample>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MemorySample {
    pub at_ms: f64,
    /// In use at this moment, and the most since the sample before.
    pub used_bytes: u64,
    pub most_bytes: u64,
}

/// Records and bytes by partition, bounded: thousands of partitions are told by their largest and by their spread.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Partitions {
    /// partition, split.
    pub of: String,
    pub count: u64,
    pub measures: Vec<Measure>,
    /// All of them by number, or the largest.
    pub rows: Vec<PartitionRow>,
}

/// One thing that was counted for every partition.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Measure {
    /// input_records, input_bytes (what a partition was given to sort and reduce), output_records, output_bytes.
    pub name: String,
    pub total: u64,
    pub least: u64,
    pub median: u64,
    pub most: u64,
    /// Where the rows are not all of them: 0 %, 1 %, .. 100 % of the partitions have at most this.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub spread: Vec<u64>,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct PartitionRow {
    pub number: u64,
    /// In the order of the measures.
    pub values: Vec<u64>,
}

/// One thing that would make the job, or the next one like it, better.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Advice {
    /// The rule's name, for programs.
    pub rule: String,
    /// What was seen, a sentence.
    pub seen: String,
    /// What to change, a sentence.
    pub change: String,
    /// The flag in it, as it would be typed, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flag: Option<String>,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Spill {
    pub runs: u64,
    pub records: u64,
    pub raw_bytes: u64,
    pub stored_bytes: u64,
    /// Most bytes of scratch held at a time.
    pub peak_bytes: u64,
    pub merge_passes: u64,
    pub directories: Vec<String>,
    /// Directories that were taken out of use because they failed.
    pub failed_directories: Vec<String>,
    /// Directory, then how many reads failed or brought something else than was written; each was tried again.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub bad_reads: BTreeMap<String, u64>,
}

/// The one resource that bounds the job: throughput = parallelism of the resource / its time a unit of work.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Bottleneck {
    /// cpu, disk_read, disk_write, memory, locks, input (one split or one file that could not be divided), start; on a cluster
    /// also network.
    pub resource: String,
    /// The stage in which most of that resource's time went.
    pub stage: String,
    /// Share of the wall time for which the resource was in use, 0 to 1.
    pub utilisation: f64,
    /// How much of the resource there is (processors; disks).
    pub parallelism: f64,
    /// Time of the resource for one MB of input, in milliseconds.
    pub ms_per_mb: f64,
    /// parallelism / ms_per_mb: what the model says, in MB of input a second.
    pub model_mb_per_s: f64,
    /// What the job did.
    pub actual_mb_per_s: f64,
    /// The resource that is next, and the speed-up with twice as much of the first.
    pub next: String,
    pub speedup_if_doubled: f64,
    /// One sentence for people.
    pub text: String,
}
