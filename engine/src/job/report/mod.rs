//! The job report: work done, rates, and the bottleneck (schema: docs/formats/report.schema.json).

pub mod advice;
pub mod bottleneck;
pub mod build;
pub mod limits;
pub mod memory_trace;
pub mod meter;
pub mod partitions;
pub mod processors;
pub mod spill_rows;
pub mod workload_stats;

use std::collections::BTreeMap;

pub use crate::job::plan::join_cost::{JoinBy, JoinCosts};
use serde::{Deserialize, Serialize};
use yunti_base::store_protocol::Traffic;

/// Value of `format`. The number changes if a field changes its meaning; new fields keep it.
pub const REPORT_FORMAT: &str = "yunti-report/1";

/// Report of a finished job.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Report {
    pub format: String,
    pub job: JobInfo,
    pub machine: Machine,
    /// Input files; absent for a job on a cluster.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<Input>,
    /// Stages in the order of a record's journey.
    pub stages: Vec<Stage>,
    pub workers: Vec<Worker>,
    /// Attempts of a job's tasks on a cluster, where a worker is a place for one container.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tasks: Vec<TaskRow>,
    pub memory: Memory,
    pub spill: Spill,
    /// Work that earlier attempts of the job did; absent for a first attempt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resumed: Option<Resumed>,
    /// Balance of the partitions (in mode none: splits), if counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub partitions: Option<Partitions>,
    /// Use of files by their place in the job; absent for a job on a cluster.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<FileUse>,
    /// Requests to object stores, web servers and HDFS; absent if the job used none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stores: Option<Traffic>,
    /// Sizes of a reducer's groups, and their cost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub groups: Option<GroupUse>,
    /// Table of a hash join, if the job is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub join_table: Option<JoinTableUse>,
    /// Way of a hash join that could be done in several ways, and what they were estimated to take.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub join_choice: Option<JoinChoice>,
    /// Resources that the job wanted and did not get.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waits: Option<Waits>,
    /// Counters by group and name, with Hadoop's names where Hadoop has the counter.
    pub counters: BTreeMap<String, BTreeMap<String, u64>>,
    pub bottleneck: Bottleneck,
    /// Advice, the most useful first; empty if nothing stands out.
    #[serde(default)]
    pub advice: Vec<Advice>,
    /// Reports of the earlier jobs of a chain, in order; in the report of the last job.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub before: Vec<Report>,
    /// Bytes of outputs between jobs of a chain that did not fit in memory.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub held_spilled_bytes: u64,
}

fn is_zero(n: &u64) -> bool {
    *n == 0
}

/// Use of one scratch directory.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DirectoryRow {
    pub path: String,
    pub written_bytes: u64,
    /// Speed by which blocks were divided, in MB/s: measured while the kernel wrote blocks back, else assumed for the
    /// kind of storage.
    pub mb_per_s: f64,
}

/// Work of earlier attempts that a job went on from.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Resumed {
    /// Splits that were mapped.
    pub splits: u64,
    /// Partitions that were written, or begun.
    pub partitions: u64,
    /// Splits that were mapped again, because their input changed or their records were lost.
    pub mapped_again: u64,
}

/// Facts about a job as a whole.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct JobInfo {
    pub name: String,
    /// Id of the job on a cluster.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Final state on a cluster: succeeded, failed, killed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<String>,
    pub version: String,
    pub mode: String,
    pub reduces: u32,
    pub splits: u64,
    pub threads: u32,
    pub started_unix_ms: u64,
    pub wall_ms: f64,
    /// Processor time of the process for this job, user and system.
    pub cpu_ms: f64,
    pub input_bytes: u64,
    pub input_records: u64,
    pub output_bytes: u64,
    pub output_records: u64,
    pub output: Option<String>,
    /// Codec with its level, or class, that makes the bytes of the output; absent if they are only laid out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_by: Option<String>,
    /// Names of the job's classes by role: mapper, combiner, reducer, folder, partitioner, writer.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub classes: BTreeMap<String, String>,
}

/// Input of a job, as files.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Input {
    pub files: u64,
    /// Bytes of the files, if the job reads some columns of them alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file_bytes: Option<u64>,
    pub split_bytes: u64,
    /// Number of files by codec.
    pub compressed: BTreeMap<String, u64>,
    /// Files longer than a split that one task had to read whole.
    pub whole_files: u64,
    pub whole_bytes: u64,
    /// Longest of these files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub longest_whole: Option<WholeFile>,
    /// Largest record that did not fit into a reader's buffer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub largest_record: Option<LargeRecord>,
}

/// A record that did not fit into a reader's buffer.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LargeRecord {
    pub path: String,
    /// Offset in the decompressed file.
    pub offset: u64,
    /// Lower bound of its length. The record is at most twice as long.
    pub bytes_least: u64,
}

/// Use of the files of one place. Times are sums over all workers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FileUse {
    /// Place: input, output, scratch.
    pub place: String,
    /// Directory; of inputs, that with the first file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub directory: Option<String>,
    /// Kind of the storage of the directory: disk, memory, network. Absent if unknown, which counts as a disk.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub storage: Option<String>,
    /// File system of the directory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file_system: Option<String>,
    /// Block device of the file system.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device: Option<String>,
    pub opened: u64,
    /// Time of finding, opening and creating files.
    pub open_ms: f64,
    pub read_bytes: u64,
    pub read_ms: f64,
    /// Number of reads.
    #[serde(default)]
    pub reads: u64,
    pub written_bytes: u64,
    pub write_ms: f64,
    /// Number of writes.
    #[serde(default)]
    pub writes: u64,
    /// Free bytes of the file system after the job, if the job wrote to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub free_bytes: Option<u64>,
}

/// Table of a hash join.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct JoinTableUse {
    /// Bytes of the side file.
    pub side_bytes: u64,
    /// Rows: lines of the side file that have the column.
    pub rows: u64,
    pub table_bytes: u64,
    /// Budget with which the job holds the table.
    pub budget_bytes: u64,
    /// True if the table did not fit, and the job sorted both sides instead.
    pub sorted: bool,
}

/// Way of a hash join.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct JoinChoice {
    pub by: JoinBy,
    /// True if the job named the way, and nothing was estimated.
    pub named: bool,
    /// Keys of the input that the probe looked up at the servers, and the time for all of them.
    pub probed_keys: u64,
    pub probe_ms: f64,
    /// Time of this processor for the work of one second on the one of the engine's rates; 0 if nothing was estimated.
    pub slowness: f64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub costs: Option<JoinCosts>,
}

/// Groups of a reducer.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct GroupUse {
    pub largest_records: u64,
    pub largest_partition: u32,
    /// Beginning of the largest group's key, if keys are bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub largest_key: Option<String>,
    /// Time of the reducer by size of groups, in powers of two.
    pub sizes: Vec<GroupSize>,
}

/// Cost of groups of similar size.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct GroupSize {
    /// Lower bound of records a group; the upper bound is twice as many. Small groups are batched and count at their
    /// mean size.
    pub records_least: u64,
    pub records: u64,
    pub busy_ms: f64,
}

/// Time and processors that the job wanted and did not get.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Waits {
    /// Time in which threads were runnable without a processor, summed over threads.
    pub processor_ms: f64,
    /// Processor time that other processes used on the job's processors, time stolen by the host included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub others_ms: Option<f64>,
    /// Time in which a thread of the machine waited for a processor (`/proc/pressure/cpu`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pressure_ms: Option<f64>,
    /// Processors that a control group allows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quota_processors: Option<f64>,
    /// Periods of that quota in which the job was runnable.
    pub quota_periods: u64,
    /// Periods in which the quota was used up.
    pub throttled_periods: u64,
    /// Bytes that the process read from disks.
    pub disk_read_bytes: u64,
    /// Bytes that the process wrote to disks.
    pub disk_written_bytes: u64,
}

/// A file that one task had to read whole.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct WholeFile {
    pub path: String,
    pub bytes: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub codec: Option<String>,
    /// Reason why the file was not cut.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reason: String,
}

/// Machine that ran the job.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Machine {
    pub cpu: String,
    pub processors: u32,
    pub memory_bytes: u64,
    pub simd: String,
}

/// One stage of the records' journey, summed over all workers.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Stage {
    /// Name: read, map, collect, fold, spill, sort, merge, reduce, encode, write.
    pub name: String,
    pub bytes: u64,
    pub records: u64,
    /// Worker time spent in the stage, all workers together.
    pub busy_ms: f64,
    /// Bytes / busy time: rate of one worker.
    pub mb_per_s: f64,
    /// Measured limit of the stage's resource, in MB/s for one worker (`yunti machine limits`).
    pub limit_mb_per_s: Option<f64>,
    /// Resource of the stage: cpu, memory, disk_read, disk_write, network.
    pub resource: String,
}

/// Timeline of one worker.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Worker {
    pub number: u32,
    pub busy_ms: f64,
    pub spans: Vec<Span>,
}

/// A task on a worker's timeline.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Span {
    /// Kind: map, spill, sort, merge, reduce, commit, wait.
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
    /// Kind: map, reduce.
    pub kind: String,
    /// State: succeeded, failed, killed.
    pub state: String,
    pub node: String,
    /// Milliseconds since the job began.
    pub start_ms: f64,
    pub elapsed_ms: f64,
    pub cpu_ms: f64,
    /// Time by stage. The rest of the elapsed time was not measured.
    pub stages_ms: BTreeMap<String, f64>,
}

/// Memory of a job.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Memory {
    pub budget_bytes: u64,
    pub peak_bytes: u64,
    /// Peak resident size of the whole process, file pages included.
    pub peak_resident_bytes: u64,
    /// Budget in use over time; a few hundred samples at most.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub samples: Vec<MemorySample>,
    /// Changes of the memory that the job kept to, in order of time; absent if it kept to its budget.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub limits: Vec<MemoryLimit>,
}

/// Memory that a job keeps to from a moment on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MemoryLimit {
    /// Milliseconds since the job began.
    pub at_ms: f64,
    pub limit_bytes: u64,
}

/// Memory in use at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MemorySample {
    pub at_ms: f64,
    /// Bytes in use at this moment.
    pub used_bytes: u64,
    /// Peak since the sample before.
    pub most_bytes: u64,
}

/// Records and bytes by partition. Many partitions are summarised by the largest and by the spread.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Partitions {
    /// Kind of the parts: partition, split.
    pub of: String,
    pub count: u64,
    pub measures: Vec<Measure>,
    /// All parts by number, or only the largest.
    pub rows: Vec<PartitionRow>,
}

/// One quantity that was counted for every partition.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Measure {
    /// Name: input_records, input_bytes (records to sort and reduce), output_records, output_bytes.
    pub name: String,
    pub total: u64,
    pub least: u64,
    pub median: u64,
    pub most: u64,
    /// Percentiles 0 %, 1 %, .. 100 % over the partitions, if `rows` has only the largest.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub spread: Vec<u64>,
}

/// Counts of one partition.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct PartitionRow {
    pub number: u64,
    /// Values in the order of `measures`.
    pub values: Vec<u64>,
}

/// One change that would improve the job, or the next one like it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Advice {
    /// Name of the rule, for programs.
    pub rule: String,
    /// Observation, one sentence.
    pub seen: String,
    /// Suggested change, one sentence.
    pub change: String,
    /// Flag for the change as typed, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flag: Option<String>,
}

/// Spills of a job.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Spill {
    pub runs: u64,
    pub records: u64,
    pub raw_bytes: u64,
    pub stored_bytes: u64,
    /// Most bytes of scratch space held at the same time.
    pub peak_bytes: u64,
    pub merge_passes: u64,
    pub directories: Vec<String>,
    /// Bytes written to each directory, and its speed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub directory_use: Vec<DirectoryRow>,
    /// Directories that were retired after failures.
    pub failed_directories: Vec<String>,
    /// Reads that failed or returned damaged data, by directory; each was repeated.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub bad_reads: BTreeMap<String, u64>,
    /// Every spill, and every merge of runs into a longer run, by its end.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rows: Vec<SpillRow>,
}

/// One spill or merge.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SpillRow {
    /// Kind: spill, merge.
    pub kind: String,
    pub worker: u32,
    /// Begin, since the start of the job.
    pub start_ms: f64,
    /// Time in which the worker read, mapped and collected the records: since its spill before, or its start.
    pub collect_ms: f64,
    pub sort_ms: f64,
    /// Time of combining and writing; of a merge, all its time.
    pub write_ms: f64,
    /// Runs that were merged; 0 for a spill.
    pub merged: u64,
    /// Records that went in.
    pub records: u64,
    /// Bytes of their keys and values.
    pub raw_bytes: u64,
    /// Records of the new run: fewer after a combiner.
    pub written_records: u64,
    /// Bytes of the new run on scratch.
    pub stored_bytes: u64,
    /// Partitions with records.
    pub segments: u32,
}

/// The one resource that bounds the job: throughput = parallelism of the resource / its time for a unit of work.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Bottleneck {
    /// Resource: cpu, other_processes, disk_read, disk_write, network, memory, locks, input (one split, or one file
    /// that cannot be split), partitions, start.
    pub resource: String,
    /// Stage that used most of the resource's time.
    pub stage: String,
    /// Share of the wall time in which the resource was in use, 0 to 1.
    pub utilisation: f64,
    /// Amount of the resource (processors, disks).
    pub parallelism: f64,
    /// Time of the resource for one MB of input, in milliseconds.
    pub ms_per_mb: f64,
    /// parallelism / ms_per_mb: rate of the model, in MB of input a second.
    pub model_mb_per_s: f64,
    /// Measured rate of the job.
    pub actual_mb_per_s: f64,
    /// Resource with the next highest utilisation.
    pub next: String,
    /// Speed-up of the job with twice as much of the resource.
    pub speedup_if_doubled: f64,
    /// Explanation in one sentence.
    pub text: String,
}
