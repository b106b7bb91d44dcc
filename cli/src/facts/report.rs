//! Conversion of the facts of a cluster's job to the engine's report.
//!
//! ```text
//!   attempt of a task    |<------------------------- elapsed (the cluster's clock) ------------------------->|
//!   with our counters    | launch |<------------------------ TOTAL (the task's clock) ---------------------->|
//!                                 | jvm-start | read, map, .., sort, merge         shuffle, merge, .., write |
//!   without              | map                                            shuffle | merge | reduce         |
//! ```
//!
//! `launch` is the cluster's time around the JVM: the container's start before it, commit and shutdown after it.
//! Without Yunti's counters the time of the JVM's start is unknown. It is then part of `map` and `shuffle`, as in
//! Hadoop's pages.

use std::collections::BTreeMap;

use yunti_engine::job::report::bottleneck::{self, ResourceTimes};
use yunti_engine::job::report::meter::resource_of;
use yunti_engine::job::report::partitions::summarise;
use yunti_engine::job::report::{
    JobInfo, Machine, Memory, Partitions, REPORT_FORMAT, Report, Span, Stage, TaskRow, Worker, advice,
};

use super::{Attempt, JobFacts};

const TASK: &str = "org.apache.hadoop.mapreduce.TaskCounter";
const FILE_INPUT: &str = "org.apache.hadoop.mapreduce.lib.input.FileInputFormatCounter";
const FILE_OUTPUT: &str = "org.apache.hadoop.mapreduce.lib.output.FileOutputFormatCounter";
const YUNTI: &str = "Yunti";

/// Stages in the order in which a record passes them.
const STAGES: [&str; 14] = [
    "launch",
    "jvm-start",
    "prepare",
    "read",
    "map",
    "collect",
    "fold",
    "spill",
    "sort",
    "shuffle",
    "merge",
    "reduce",
    "write",
    "lost",
];

/// Maximum number of attempts in a report; the rest counts only in the sums.
const ROWS_MAX: usize = 10_000;

pub fn report_of(facts: &JobFacts) -> Report {
    let mut report = Report {
        format: REPORT_FORMAT.into(),
        job: job(facts),
        machine: Machine {
            cpu: match facts.cluster.nodes {
                0 => "a Hadoop cluster".into(),
                1 => "a Hadoop cluster of 1 node".into(),
                n => format!("a Hadoop cluster of {n} nodes"),
            },
            processors: facts.cluster.processors,
            memory_bytes: facts.cluster.memory_bytes,
            simd: String::new(),
        },
        tasks: facts.attempts.iter().map(|attempt| row(facts, attempt)).collect(),
        memory: memory(facts),
        partitions: partitions(facts),
        counters: facts.counters.clone(),
        ..Report::default()
    };
    report.stages = stages(facts, &report);
    report.workers = workers(&report.tasks);
    report.job.threads = report.workers.len() as u32;
    report.job.cpu_ms = cpu_ms(facts, &report.tasks);
    report.bottleneck = bottleneck::find(&report, &times(facts, &report));
    report.advice = advice::give(&report);
    report.tasks.truncate(ROWS_MAX);
    report.before = facts.before.iter().map(report_of).collect();
    // Only the last job of a chain has an output.
    report.before.iter_mut().for_each(|report| report.job.output = None);
    report
}

fn counter(facts: &JobFacts, group: &str, name: &str) -> Option<u64> {
    facts.counters.get(group)?.get(name).copied()
}

fn task_counter(facts: &JobFacts, name: &str) -> u64 {
    counter(facts, TASK, name).unwrap_or(0)
}

fn job(facts: &JobFacts) -> JobInfo {
    let output_counter = if facts.reduces == 0 { "MAP_OUTPUT_RECORDS" } else { "REDUCE_OUTPUT_RECORDS" };
    let mut maps: Vec<&str> = facts.attempts.iter().filter(|a| a.kind == "map").map(task_of).collect();
    maps.sort_unstable();
    maps.dedup();
    JobInfo {
        name: facts.name.clone(),
        id: Some(facts.id.clone()),
        state: Some(facts.state.clone()),
        version: env!("CARGO_PKG_VERSION").into(),
        mode: if facts.reduces == 0 { "none" } else { "sorted" }.into(),
        reduces: facts.reduces,
        splits: maps.len() as u64,
        threads: 0,
        started_unix_ms: facts.submitted_unix_ms,
        wall_ms: facts.finished_unix_ms.saturating_sub(facts.submitted_unix_ms) as f64,
        cpu_ms: 0.0,
        // Native tasks count the bytes of their splits; Hadoop counts the bytes read, which are slightly more.
        input_bytes: counter(facts, YUNTI, "INPUT_BYTES").or(counter(facts, FILE_INPUT, "BYTES_READ")).unwrap_or(0),
        input_records: task_counter(facts, "MAP_INPUT_RECORDS"),
        output_bytes: counter(facts, FILE_OUTPUT, "BYTES_WRITTEN").unwrap_or(0),
        output_records: task_counter(facts, output_counter),
        output: facts.output.clone(),
        ..JobInfo::default()
    }
}

/// Returns the task of an attempt: `attempt_X_m_000001` for `attempt_X_m_000001_0`.
fn task_of(attempt: &Attempt) -> &str {
    attempt.id.rsplit_once('_').map_or(&*attempt.id, |(task, _)| task)
}

fn task_number(attempt: &str) -> u64 {
    attempt.rsplit('_').nth(1).and_then(|n| n.parse().ok()).unwrap_or(0)
}

/// Returns the size of the largest container, and of the largest process.
fn memory(facts: &JobFacts) -> Memory {
    let most = |name: &str| facts.attempts.iter().filter_map(|a| a.counters.get(name)).copied().max().unwrap_or(0);
    let peak = most("PHYSICAL_MEMORY_BYTES");
    Memory {
        budget_bytes: facts.map_container_bytes.max(if facts.reduces == 0 { 0 } else { facts.reduce_container_bytes }),
        peak_bytes: peak,
        peak_resident_bytes: peak,
        samples: Vec::new(),
        limits: Vec::new(),
    }
}

/// Returns the input and output of each reduce, if the facts have them for all reduces.
fn partitions(facts: &JobFacts) -> Option<Partitions> {
    let reduces = facts.attempts.iter().filter(|a| a.kind == "reduce" && a.state == "succeeded");
    let by_number: BTreeMap<u64, &Attempt> = reduces.map(|a| (task_number(&a.id), a)).collect();
    let all = by_number.len() == facts.reduces as usize && by_number.keys().copied().eq(0..u64::from(facts.reduces));
    let column =
        |name: &str| -> Vec<u64> { by_number.values().map(|a| a.counters.get(name).copied().unwrap_or(0)).collect() };
    let columns = [
        ("input_records", column("REDUCE_INPUT_RECORDS")),
        ("input_bytes", column("REDUCE_SHUFFLE_BYTES")),
        ("output_records", column("REDUCE_OUTPUT_RECORDS")),
    ];
    summarise("partition", columns).filter(|_| all)
}

/// Returns the processor time of all attempts. Attempts of stock Hadoop lack the time before Hadoop began to count.
fn cpu_ms(facts: &JobFacts, tasks: &[TaskRow]) -> f64 {
    let sum: f64 = tasks.iter().map(|t| t.cpu_ms).sum();
    if sum > 0.0 { sum } else { task_counter(facts, "CPU_MILLISECONDS") as f64 }
}

fn row(facts: &JobFacts, attempt: &Attempt) -> TaskRow {
    let own = |name: &str| attempt.times_ms.get(name).copied();
    let cpu_ms = own("CPU").or(attempt.counters.get("CPU_MILLISECONDS").copied()).unwrap_or(0);
    TaskRow {
        id: attempt.id.clone(),
        kind: attempt.kind.clone(),
        state: attempt.state.clone(),
        node: attempt.node.clone(),
        start_ms: attempt.start_unix_ms.saturating_sub(facts.submitted_unix_ms) as f64,
        elapsed_ms: attempt.elapsed_ms as f64,
        cpu_ms: cpu_ms as f64,
        stages_ms: stages_of(attempt).into_iter().map(|(name, ms)| (name, ms as f64)).collect(),
    }
}

fn stages_of(attempt: &Attempt) -> BTreeMap<String, u64> {
    let elapsed = attempt.elapsed_ms;
    if attempt.state != "succeeded" {
        return [("lost".to_string(), elapsed)].into();
    }
    if let Some(total) = attempt.times_ms.get("TOTAL") {
        let measured = attempt.times_ms.iter().filter(|(name, _)| !matches!(&***name, "TOTAL" | "CPU"));
        let stages = measured.map(|(name, ms)| (name.to_lowercase().replace('_', "-"), *ms));
        return stages.chain([("launch".to_string(), elapsed.saturating_sub(*total))]).collect();
    }
    let (start, end) = (attempt.start_unix_ms, attempt.start_unix_ms + elapsed);
    let (shuffled, merged) = (attempt.shuffled_unix_ms, attempt.merged_unix_ms);
    if attempt.kind == "reduce" && (start..=end).contains(&shuffled) && (shuffled..=end).contains(&merged) {
        let stages = [("shuffle", shuffled - start), ("merge", merged - shuffled), ("reduce", end - merged)];
        return stages.map(|(name, ms)| (name.to_string(), ms)).into();
    }
    [(attempt.kind.clone(), elapsed)].into()
}

fn stages(facts: &JobFacts, report: &Report) -> Vec<Stage> {
    let mut sums = BTreeMap::<&str, f64>::new();
    for (name, ms) in report.tasks.iter().flat_map(|t| &t.stages_ms) {
        *sums.entry(name).or_insert(0.0) += ms;
    }
    let known = STAGES.into_iter().filter(|name| sums.contains_key(name));
    // A newer plug-in may have more stages.
    let others = sums.keys().copied().filter(|name| !STAGES.contains(name));
    let stage = |name: &str| {
        let (bytes, records) = amounts(facts, report, name);
        let busy_ms = sums[name];
        Stage {
            name: name.into(),
            bytes,
            records,
            busy_ms,
            mb_per_s: if busy_ms > 0.0 { bytes as f64 / 1000.0 / busy_ms } else { 0.0 },
            limit_mb_per_s: None,
            resource: match name {
                "launch" | "lost" => "start",
                "shuffle" => "network",
                name => resource_of(name).unwrap_or("cpu"),
            }
            .into(),
        }
    };
    known.chain(others).map(stage).collect()
}

/// Returns the time that resources were in use. A cluster does not report the time that a task was blocked. For a task
/// with stopwatches, time beyond its processor time counts as disk wait, up to its time of reading and writing. It is
/// divided between the two in proportion.
fn times(facts: &JobFacts, report: &Report) -> ResourceTimes {
    let (mut read_wait_ms, mut write_wait_ms) = (0.0, 0.0);
    for task in facts.attempts.iter().filter(|a| a.state == "succeeded") {
        let time = |name: &str| task.times_ms.get(name).map_or(0.0, |ms| *ms as f64);
        let idle_ms = time("TOTAL") - time("SHUFFLE") - time("CPU");
        let of = |resource: &str| -> f64 {
            let stages = task.times_ms.keys().map(|name| (name, name.to_lowercase()));
            stages.filter(|(_, stage)| resource_of(stage) == Some(resource)).map(|(name, _)| time(name)).sum()
        };
        let (read_ms, write_ms) = (of("disk_read"), of("disk_write"));
        let share = if read_ms + write_ms > 0.0 { (idle_ms / (read_ms + write_ms)).clamp(0.0, 1.0) } else { 0.0 };
        read_wait_ms += read_ms * share;
        write_wait_ms += write_ms * share;
    }
    ResourceTimes {
        cpu_ms: report.job.cpu_ms,
        read_wait_ms: Some(read_wait_ms),
        write_wait_ms: Some(write_wait_ms),
        disks: facts.cluster.nodes,
        network_wait_ms: network_wait_ms(facts, &report.tasks),
        ..ResourceTimes::default()
    }
}

/// Returns the time of fetching after all maps had ended.
fn network_wait_ms(facts: &JobFacts, tasks: &[TaskRow]) -> f64 {
    let of = |kind: &'static str| tasks.iter().filter(move |t| t.kind == kind && t.state == "succeeded");
    let mapped_ms = of("map").map(|t| t.start_ms + t.elapsed_ms).fold(0.0, f64::max);
    let fetched = |task: &TaskRow| {
        let stage = |name: &str| task.stages_ms.get(name).copied().unwrap_or(0.0);
        let from_ms = task.start_ms + stage("launch") + stage("jvm-start");
        (from_ms + stage("shuffle") - from_ms.max(mapped_ms)).max(0.0)
    };
    if facts.reduces == 0 { 0.0 } else { of("reduce").map(fetched).sum() }
}

/// Returns the bytes and records that passed a stage, from the job's counters.
fn amounts(facts: &JobFacts, report: &Report, stage: &str) -> (u64, u64) {
    let count = |name| task_counter(facts, name);
    let (job, shuffled) = (&report.job, count("REDUCE_SHUFFLE_BYTES"));
    match stage {
        "read" | "map" => (job.input_bytes, job.input_records),
        "collect" | "fold" => (job.input_bytes, count("MAP_OUTPUT_RECORDS")),
        "sort" => (count("MAP_OUTPUT_BYTES"), count("MAP_OUTPUT_RECORDS")),
        "spill" => (0, count("SPILLED_RECORDS")),
        "shuffle" => (shuffled, count("SHUFFLED_MAPS")),
        "merge" | "reduce" => (shuffled, count("REDUCE_INPUT_RECORDS")),
        "write" => (job.output_bytes, job.output_records),
        _ => (0, 0),
    }
}

/// Returns the places in which containers ran. Each attempt takes the first free place.
fn workers(tasks: &[TaskRow]) -> Vec<Worker> {
    let mut order: Vec<&TaskRow> = tasks.iter().filter(|t| t.elapsed_ms > 0.0).collect();
    order.sort_by(|a, b| a.start_ms.total_cmp(&b.start_ms));
    let mut places: Vec<(f64, Vec<Span>)> = Vec::new();
    for task in order {
        let free = places.iter().position(|(until, _)| *until <= task.start_ms);
        let place = free.unwrap_or_else(|| {
            places.push((0.0, Vec::new()));
            places.len() - 1
        });
        places[place].0 = task.start_ms + task.elapsed_ms;
        places[place].1.extend(spans(task));
    }
    let worker = |(number, (_, spans)): (usize, (f64, Vec<Span>))| {
        let busy_ms = spans.iter().map(|s| s.end_ms - s.start_ms).sum();
        Worker { number: number as u32, busy_ms, spans }
    };
    places.into_iter().enumerate().map(worker).collect()
}

/// Returns the spans of an attempt on the timeline: launch, JVM start and shuffle, then its work as one span.
fn spans(task: &TaskRow) -> Vec<Span> {
    let number = task_number(&task.id);
    let end_ms = task.start_ms + task.elapsed_ms;
    let mut at = task.start_ms;
    let mut spans = Vec::new();
    let mut push = |kind: &str, ms: f64| {
        let to = (at + ms).min(end_ms);
        if to > at {
            spans.push(Span { kind: kind.into(), task: number, start_ms: at, end_ms: to, bytes: 0, records: 0 });
            at = to;
        }
    };
    if task.state == "succeeded" {
        for stage in ["launch", "jvm-start", "shuffle"] {
            push(stage, task.stages_ms.get(stage).copied().unwrap_or(0.0));
        }
        push(&task.kind, task.elapsed_ms);
    } else {
        push("lost", task.elapsed_ms);
    }
    spans
}

#[cfg(test)]
mod tests {
    use super::*;

    fn attempt(id: &str, start: u64, elapsed: u64, times: &[(&str, u64)]) -> Attempt {
        Attempt {
            id: format!("attempt_7_0001_{id}"),
            kind: if id.starts_with('m') { "map" } else { "reduce" }.into(),
            state: "succeeded".into(),
            start_unix_ms: start,
            elapsed_ms: elapsed,
            times_ms: times.iter().map(|(name, ms)| (name.to_string(), *ms)).collect(),
            ..Attempt::default()
        }
    }

    fn facts(attempts: Vec<Attempt>) -> JobFacts {
        JobFacts {
            id: "job_7_0001".into(),
            state: "succeeded".into(),
            submitted_unix_ms: 1000,
            finished_unix_ms: 11_000,
            reduces: 1,
            cluster: Cluster { nodes: 1, processors: 2, memory_bytes: 1 << 30 },
            attempts,
            ..JobFacts::default()
        }
    }

    use super::super::Cluster;

    fn stage_sums(report: &Report) -> Vec<(&str, f64)> {
        report.stages.iter().map(|s| (&*s.name, s.busy_ms)).collect()
    }

    #[test]
    fn measured_stages_and_launch() {
        let times = [("JVM_START", 400), ("READ", 50), ("MAP", 300), ("SORT", 200), ("TOTAL", 960), ("CPU", 1500)];
        let report = report_of(&facts(vec![attempt("m_000000_0", 3000, 1100, &times)]));
        let expect = [("launch", 140.0), ("jvm-start", 400.0), ("read", 50.0), ("map", 300.0), ("sort", 200.0)];
        assert_eq!(stage_sums(&report), expect);
        assert_eq!((report.job.cpu_ms, report.job.wall_ms, report.job.splits), (1500.0, 10_000.0, 1));
        let spans: Vec<_> = report.workers[0].spans.iter().map(|s| (&*s.kind, s.start_ms, s.end_ms)).collect();
        assert_eq!(spans, [("launch", 2000.0, 2140.0), ("jvm-start", 2140.0, 2540.0), ("map", 2540.0, 3100.0)]);
    }

    #[test]
    fn stock_tasks_use_the_times_of_the_history() {
        let known = Attempt { shuffled_unix_ms: 6000, merged_unix_ms: 6100, ..attempt("r_000000_0", 5000, 3000, &[]) };
        let unknown = attempt("r_000001_0", 5000, 2000, &[]);
        let report = report_of(&facts(vec![attempt("m_000000_0", 2000, 3000, &[]), known, unknown]));
        let expect = [("map", 3000.0), ("shuffle", 1000.0), ("merge", 100.0), ("reduce", 3900.0)];
        assert_eq!(stage_sums(&report), expect);
    }

    #[test]
    fn lost_attempts_count_as_time() {
        let lost = Attempt { state: "failed".into(), ..attempt("m_000000_0", 2000, 700, &[]) };
        let report = report_of(&facts(vec![lost, attempt("m_000000_1", 2500, 900, &[])]));
        assert_eq!(stage_sums(&report), [("map", 900.0), ("lost", 700.0)]);
        // They overlap, so they take two places. Both read one split.
        assert_eq!((report.workers.len(), report.job.splits), (2, 1));
    }

    #[test]
    fn a_chain_has_the_reports_of_its_earlier_jobs() {
        let named = |name: &str| JobFacts {
            name: name.into(),
            output: Some(format!("/{name}")),
            ..facts(vec![attempt("m_000000_0", 2000, 900, &[])])
        };
        let report = report_of(&JobFacts { before: vec![named("first"), named("second")], ..named("last") });
        let all: Vec<_> =
            report.before.iter().chain([&report]).map(|r| (&*r.job.name, r.job.output.as_deref())).collect();
        assert_eq!(all, [("first", None), ("second", None), ("last", Some("/last"))]);
    }

    #[test]
    fn the_engines_rule_names_the_bottleneck() {
        let busy = |id: &str, start| {
            attempt(id, start, 4900, &[("JVM_START", 100), ("MAP", 4800), ("TOTAL", 4900), ("CPU", 4800)])
        };
        let maps = vec![
            busy("m_000000_0", 1000),
            busy("m_000001_0", 1000),
            busy("m_000002_0", 6000),
            busy("m_000003_0", 6000),
        ];
        let report = report_of(&facts(maps));
        assert_eq!((&*report.bottleneck.resource, &*report.bottleneck.stage), ("cpu", "map"));
        // A job with one short task mostly waits for the cluster.
        let report = report_of(&facts(vec![attempt("m_000000_0", 8000, 900, &[("TOTAL", 900), ("CPU", 500)])]));
        assert_eq!(report.bottleneck.resource, "start");
        // Waiting for maps does not use processors.
        let waiting = attempt("r_000000_0", 1000, 9900, &[("SHUFFLE", 9800), ("TOTAL", 9900), ("CPU", 9000)]);
        let mut one = facts(vec![busy("m_000000_0", 1000), waiting]);
        one.cluster.processors = 1;
        assert_eq!(report_of(&one).bottleneck.stage, "map");
    }

    #[test]
    fn time_beyond_processor_time_is_disk_or_network_wait() {
        let times = [("JVM_START", 200), ("READ", 7000), ("MAP", 800), ("SPILL", 1000), ("TOTAL", 9000), ("CPU", 1200)];
        let report = report_of(&facts(vec![attempt("m_000000_0", 1500, 9200, &times)]));
        assert_eq!((&*report.bottleneck.resource, &*report.bottleneck.stage), ("disk_read", "read"));
        // 7.8 of 8 s of reading and writing were disk wait.
        assert!((report.bottleneck.utilisation - 0.6825).abs() < 0.001, "{:?}", report.bottleneck);

        let map = attempt("m_000000_0", 1000, 1000, &[("MAP", 900), ("TOTAL", 1000), ("CPU", 900)]);
        let reduce =
            attempt("r_000000_0", 1500, 9000, &[("SHUFFLE", 8500), ("REDUCE", 500), ("TOTAL", 9000), ("CPU", 700)]);
        let report = report_of(&facts(vec![map, reduce]));
        assert_eq!((&*report.bottleneck.resource, &*report.bottleneck.stage), ("network", "shuffle"));
        // The shuffle without the half second in which the map ran.
        assert!((report.bottleneck.utilisation - 0.8).abs() < 0.001, "{:?}", report.bottleneck);
    }
}
