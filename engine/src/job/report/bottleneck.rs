//! The bottleneck: the one resource that bounds a job, computed from its report and the times of its resources.
//!
//! ```text
//!   utilisation = time in use / (parallelism x wall)          the resource with the highest utilisation bounds the job
//!   throughput  = parallelism / time in use per MB of input   the rate of the job if that resource is never idle
//!   doubled     : wall' = wall x max(1 - u / 2, u of the next resource)      (Amdahl, and the next bound)
//! ```
//!
//! Tasks are a resource too. More processors do not help if there are fewer splits (or parts) than workers, or one task
//! takes most of the time. Then `input` (or `partitions`) bounds the job.
//!
//! Processors that other processes took are a resource of their own: waiting for a processor is no use of it, nor of
//! the disk whose system call was interrupted. Files in memory (tmpfs) use no disk, and files of another machine use
//! the network.
//!
//! Limits: times are sums over the whole job. A job with a disk-bound half and a CPU-bound half shows two resources at
//! about one half each; the timeline shows which was when.

use super::{Bottleneck, Report};
use crate::memory::budget;

/// Times in use of each resource, summed over all workers. Unknown is 0 or `None`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ResourceTimes {
    /// Processor time of the process, user and system.
    pub cpu_ms: f64,
    /// Time blocked in reads, without processor time. `None`: computed from the busy time of workers without their
    /// processor time and waits for processors. The rest is divided in proportion to the time in files, which is also
    /// its limit.
    pub read_wait_ms: Option<f64>,
    /// Time blocked in writes, as `read_wait_ms`.
    pub write_wait_ms: Option<f64>,
    /// Time in calls that read files on disks, processor time included; used if the wait is `None`.
    pub file_read_ms: f64,
    /// Time in calls that write files on disks, in the same way.
    pub file_write_ms: f64,
    /// Time in calls that read and write files in memory, in the same way.
    pub memory_files_ms: f64,
    /// Time in calls that read and write files of other machines, in the same way.
    pub network_files_ms: f64,
    /// Time in which threads were runnable without a processor.
    pub cpu_wait_ms: f64,
    /// Part of `cpu_wait_ms` that other processes caused.
    pub taken_ms: f64,
    /// Time spent waiting for locks and full queues between workers.
    pub lock_wait_ms: f64,
    /// Copy bandwidth of the memory with all threads, if `yunti machine limits` has measured it.
    pub memory_mb_per_s: Option<f64>,
    /// Disks that can work in parallel; 0 counts as 1. On a cluster: its nodes.
    pub disks: u32,
    /// Time spent waiting for other nodes: fetching map output after all maps are done.
    pub network_wait_ms: f64,
}

/// A resource, or a part of the job that acts like one.
#[derive(Clone, Debug)]
struct Resource {
    name: &'static str,
    stage: String,
    parallelism: f64,
    in_use_ms: f64,
}

impl Resource {
    fn utilisation(&self, wall_ms: f64) -> f64 {
        (self.in_use_ms / (self.parallelism * wall_ms)).clamp(0.0, 1.0)
    }

    fn is_tasks(&self) -> bool {
        matches!(self.name, "input" | "partitions")
    }
}

/// Utilisation by which another resource must exceed the processors to be named before them. With as many tasks as
/// processors both are in use all the time, and the processors do the work. Disks get half of this advantage.
const NEARLY: f64 = 0.05;

/// Returns the bottleneck of a job. Needs `job`, `machine`, `stages` and `workers` of the report.
pub fn find(report: &Report, times: &ResourceTimes) -> Bottleneck {
    let wall_ms = report.job.wall_ms.max(1e-6);
    let resources = resources(report, times, wall_ms);
    let most = |among: &dyn Fn(&Resource) -> bool, bonus: f64| {
        let of = |r: &Resource| {
            let before = match r.name {
                "cpu" => bonus,
                "disk_read" | "disk_write" => bonus / 2.0,
                _ => 0.0,
            };
            r.utilisation(wall_ms) + before
        };
        let candidates = resources.iter().filter(|r| among(r));
        candidates.max_by(|a, b| of(a).total_cmp(&of(b))).expect("the first resources are always there")
    };
    let first = most(&|_| true, NEARLY);
    // More processors do not shorten a task; less waiting for a disk, a lock or the memory does.
    let next = most(&|r| r.name != first.name && (first.name == "cpu" || !r.is_tasks()), 0.0);
    let utilisation = first.utilisation(wall_ms);
    let next_utilisation = next.utilisation(wall_ms);
    let speedup = 1.0 / (1.0 - utilisation / 2.0).max(next_utilisation).max(1e-9);
    let input_mb = report.job.input_bytes as f64 / 1e6;
    let per_mb = |ms: f64| if input_mb > 0.0 { ms / input_mb } else { 0.0 };
    let rate = |ms_per_mb: f64| if ms_per_mb > 0.0 { 1000.0 / ms_per_mb } else { 0.0 };
    // Two workers that wait for one disk are counted twice, so the time is capped at the time available.
    let ms_per_mb = per_mb(first.in_use_ms.min(first.parallelism * wall_ms));
    let mut bottleneck = Bottleneck {
        resource: first.name.into(),
        stage: first.stage.clone(),
        utilisation,
        parallelism: first.parallelism,
        ms_per_mb,
        model_mb_per_s: first.parallelism * rate(ms_per_mb),
        actual_mb_per_s: rate(per_mb(wall_ms)),
        next: next.name.into(),
        speedup_if_doubled: speedup,
        text: String::new(),
    };
    bottleneck.text = sentence(&bottleneck, report, next_utilisation);
    bottleneck
}

fn resources(report: &Report, times: &ResourceTimes, wall_ms: f64) -> Vec<Resource> {
    let workers = report.job.threads.max(1);
    let processors = if report.machine.processors == 0 { workers } else { workers.min(report.machine.processors) };
    let disks = f64::from(times.disks.max(1));
    let FileTimes { read_ms, write_ms, network_ms } = file_times(report, times, wall_ms);
    let mut all = vec![
        Resource {
            name: "cpu",
            stage: busiest(report, takes_cpu),
            parallelism: f64::from(processors),
            in_use_ms: times.cpu_ms,
        },
        Resource {
            name: "other_processes",
            stage: busiest(report, takes_cpu),
            parallelism: f64::from(processors),
            in_use_ms: times.taken_ms,
        },
        Resource {
            name: "disk_read",
            stage: busiest(report, |r| r == "disk_read"),
            parallelism: disks,
            in_use_ms: read_ms,
        },
        Resource {
            name: "disk_write",
            stage: busiest(report, |r| r == "disk_write"),
            parallelism: disks,
            in_use_ms: write_ms,
        },
        Resource {
            name: "network",
            stage: busiest(report, |r| r == "network"),
            parallelism: disks,
            in_use_ms: times.network_wait_ms + network_ms,
        },
        start(report, wall_ms),
    ];
    if workers > 1 {
        // If one worker holds the lock all the time, all others wait all the time.
        let in_use_ms = times.lock_wait_ms / f64::from(workers - 1);
        all.push(Resource { name: "locks", stage: busiest(report, |_| true), parallelism: 1.0, in_use_ms });
    }
    if let Some(rate) = times.memory_mb_per_s.filter(|r| *r > 0.0) {
        let bytes: u64 = report.stages.iter().filter(|s| s.resource == "memory").map(|s| s.bytes).sum();
        let in_use_ms = bytes as f64 / 1e6 / rate * 1000.0;
        all.push(Resource { name: "memory", stage: busiest(report, |r| r == "memory"), parallelism: 1.0, in_use_ms });
    }
    // A task that waits for a processor is not a long task.
    let busy_ms: f64 = report.workers.iter().map(|w| w.busy_ms).sum();
    let working = 1.0 - (times.taken_ms / busy_ms.max(1e-6)).clamp(0.0, 1.0);
    let tasks = [("input", &["map"][..]), ("partitions", &["reduce", "merge"])];
    for task in tasks.into_iter().filter_map(|(name, kinds)| tasks_of(report, workers, name, kinds)) {
        all.push(Resource { in_use_ms: task.in_use_ms * working, ..task });
    }
    all
}

/// Returns true if a stage of this resource uses processors. Cluster stages that mostly wait have resources of their
/// own.
fn takes_cpu(resource: &str) -> bool {
    !matches!(resource, "network" | "start")
}

/// Returns the stage with the most worker time among stages whose resource is `wanted`.
fn busiest(report: &Report, wanted: impl Fn(&str) -> bool) -> String {
    let stages = report.stages.iter().filter(|s| wanted(&s.resource));
    stages.max_by(|a, b| a.busy_ms.total_cmp(&b.busy_ms)).map_or(String::new(), |s| s.name.clone())
}

/// Time blocked in calls on files, by the resource that the files use.
struct FileTimes {
    read_ms: f64,
    write_ms: f64,
    network_ms: f64,
}

fn file_times(report: &Report, times: &ResourceTimes, wall_ms: f64) -> FileTimes {
    let busy_ms: f64 = report.workers.iter().map(|w| w.busy_ms.min(wall_ms)).sum();
    let blocked_ms = (busy_ms - times.cpu_ms - times.cpu_wait_ms - times.lock_wait_ms).max(0.0);
    let (read, written, network) = (times.file_read_ms, times.file_write_ms, times.network_files_ms);
    let all_ms = read + written + network + times.memory_files_ms;
    let share = |ms: f64| if ms > 0.0 { (blocked_ms * ms / all_ms).min(ms) } else { 0.0 };
    FileTimes {
        read_ms: times.read_wait_ms.unwrap_or_else(|| share(read)),
        write_ms: times.write_wait_ms.unwrap_or_else(|| share(written)),
        network_ms: share(network),
    }
}

/// Returns the time before the first task and after the last: planning, and renaming the output.
fn start(report: &Report, wall_ms: f64) -> Resource {
    let spans = || report.workers.iter().flat_map(|w| &w.spans).filter(|s| s.kind != "wait");
    let first = spans().map(|s| s.start_ms).fold(wall_ms, f64::min);
    let last = spans().map(|s| s.end_ms).fold(first, f64::max);
    Resource { name: "start", stage: "plan".into(), parallelism: 1.0, in_use_ms: (wall_ms - (last - first)).max(0.0) }
}

/// Returns tasks as a resource, if there are fewer than workers or one is much longer than the others.
fn tasks_of(report: &Report, workers: u32, name: &'static str, kinds: &[&str]) -> Option<Resource> {
    let spans = || report.workers.iter().flat_map(|w| &w.spans).filter(|s| kinds.contains(&s.kind.as_str()));
    // A task may have several spans on one worker's timeline: its length is their sum.
    let mut lengths = std::collections::BTreeMap::<(&str, u64), f64>::new();
    for span in spans() {
        *lengths.entry((&span.kind, span.task)).or_insert(0.0) += span.end_ms - span.start_ms;
    }
    let longest = lengths.values().copied().fold(0.0, f64::max);
    let sum: f64 = lengths.values().sum();
    let n = lengths.len();
    if workers < 2 || n == 0 {
        return None;
    }
    let all_at_once = if n < workers as usize { sum / n as f64 } else { 0.0 };
    let (parallelism, in_use_ms) =
        if all_at_once > longest * 0.9 { (n as f64, sum) } else { (1.0, longest.max(all_at_once)) };
    Some(Resource { name, stage: kinds[0].into(), parallelism, in_use_ms })
}

/// Returns the name of a resource in a sentence.
pub fn resource_text(name: &str) -> &str {
    match name {
        "cpu" => "the processors",
        "other_processes" => "processors taken by other processes",
        "disk_read" => "reading from the disk",
        "disk_write" => "writing to the disk",
        "network" => "the network",
        "memory" => "the memory's bandwidth",
        "locks" => "waiting for locks",
        "input" => "the number of splits",
        "partitions" => "the number of partitions",
        "start" => "start and commit",
        other => other,
    }
}

/// Returns what a stage of a hash join did with its table.
fn join_clause(stage: &str, report: &Report) -> String {
    let Some(table) = report.join_table.as_ref().filter(|table| !table.sorted) else { return String::new() };
    let size = budget::size(table.table_bytes);
    match stage {
        "prepare" => format!(": it built a table of {size}"),
        "map" => format!(": it looked up rows in a table of {size}"),
        _ => String::new(),
    }
}

fn sentence(b: &Bottleneck, report: &Report, next_utilisation: f64) -> String {
    let percent = (b.utilisation * 100.0).round();
    let mostly = if b.stage.is_empty() { String::new() } else { format!(", mostly in {}", b.stage) };
    let mostly = mostly + &join_clause(&b.stage, report);
    let n = b.parallelism;
    let what = match b.resource.as_str() {
        "cpu" => {
            let (are, s) = if n == 1.0 { ("was", "") } else { ("were", "s") };
            format!("the processors bound it: {n} processor{s} {are} busy {percent} % of the time{mostly}")
        }
        "input" if n == 1.0 => {
            format!("the input bound it: one split that cannot be divided kept one worker busy {percent} % of the time")
        }
        "input" => format!(
            "the input bound it: {n} splits kept {n} of {} workers busy {percent} % of the time",
            report.job.threads
        ),
        "partitions" => {
            format!("the partitions bound it: {n} of them for {} workers, {percent} % of the time", report.job.threads)
        }
        "start" => format!("the job is so small that start and commit took {percent} % of its time"),
        "locks" => format!("locks bound it: workers waited for each other {percent} % of the time"),
        "other_processes" => format!(
            "processors were taken by other processes: {percent} % of the time, workers were ready and had none{mostly}"
        ),
        "network" if report.stores.is_some() => {
            let asked = report.stores.map_or(0, |stores| stores.slow_downs);
            let asked = if asked > 0 { format!("; the store asked for less {asked} times") } else { String::new() };
            format!(
                "the store and its network bound it: workers waited for them {percent} % of the time{mostly}{asked}"
            )
        }
        "network" if report.job.id.is_none() => {
            format!("the network bound it: files of another machine were in use {percent} % of the time{mostly}")
        }
        "network" => format!("the network bound it: tasks waited for the output of others {percent} % of the time"),
        "memory" => format!("the memory's bandwidth bound it: in use {percent} % of the time{mostly}"),
        other => format!("{} bound it: the disk was busy {percent} % of the time{mostly}", resource_text(other)),
    };
    let twice = match b.resource.as_str() {
        "start" => return what,
        "cpu" => "twice the processors",
        "other_processes" => "half of the waiting",
        "disk_read" | "disk_write" => "a disk twice as fast",
        "memory" => "memory twice as fast",
        "network" if report.stores.is_some() => "a store and network twice as fast",
        "network" => "a network twice as fast",
        "locks" => "half of the waiting",
        "input" => "twice the splits",
        _ => "twice the partitions",
    };
    let rate = |mb_per_s: f64| match mb_per_s {
        r if r < 10.0 => format!("{r:.2} MB/s"),
        r if r < 10_000.0 => format!("{r:.0} MB/s"),
        r => format!("{:.1} GB/s", r / 1000.0),
    };
    let next = format!("{} ({:.0} %)", resource_text(&b.next), next_utilisation * 100.0);
    let gain = if b.speedup_if_doubled < 1.05 {
        format!("{twice} would bring nothing, because of {next}")
    } else {
        format!("{twice} would make it {:.1}x faster; next is {next}", b.speedup_if_doubled)
    };
    if b.resource == "other_processes" {
        format!("{what}; {gain}")
    } else if b.model_mb_per_s > 0.0 {
        let (actual, model) = (rate(b.actual_mb_per_s), rate(b.model_mb_per_s));
        format!("{what}; {actual} of a possible {model}; {gain}")
    } else {
        format!("{what}; {gain}")
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Span, Stage, Worker};
    use super::*;

    /// Makes a report of `input_mb` in `wall_ms`, with one processor for each list of (kind, task, start, end).
    fn report(input_mb: u64, wall_ms: f64, workers: &[&[(&str, u64, f64, f64)]]) -> Report {
        let mut report = Report::default();
        report.job.input_bytes = input_mb * 1_000_000;
        report.job.wall_ms = wall_ms;
        report.job.threads = workers.len() as u32;
        report.machine.processors = workers.len() as u32;
        for (number, spans) in workers.iter().enumerate() {
            let spans: Vec<Span> = spans
                .iter()
                .map(|&(kind, task, start_ms, end_ms)| Span {
                    kind: kind.into(),
                    task,
                    start_ms,
                    end_ms,
                    ..Span::default()
                })
                .collect();
            let busy_ms = spans.iter().map(|s| s.end_ms - s.start_ms).sum();
            report.workers.push(Worker { number: number as u32, busy_ms, spans });
        }
        for (name, busy_ms, resource) in [
            ("read", 200.0, "disk_read"),
            ("map", 900.0, "cpu"),
            ("sort", 100.0, "memory"),
            ("write", 150.0, "disk_write"),
        ] {
            report.stages.push(Stage { name: name.into(), busy_ms, resource: resource.into(), ..Stage::default() });
        }
        report
    }

    struct Expect {
        resource: &'static str,
        stage: &'static str,
        next: &'static str,
        utilisation: f64,
        speedup: f64,
    }

    fn check(report: &Report, times: ResourceTimes, expect: Expect) {
        let b = find(report, &times);
        assert_eq!(
            (b.resource.as_str(), b.stage.as_str(), b.next.as_str()),
            (expect.resource, expect.stage, expect.next),
            "{b:?}"
        );
        assert!((b.utilisation - expect.utilisation).abs() < 0.005, "{b:?}");
        assert!((b.speedup_if_doubled - expect.speedup).abs() < 0.005, "{b:?}");
        // Model and measurement differ by the utilisation.
        assert!((b.model_mb_per_s * b.utilisation - b.actual_mb_per_s).abs() <= 0.01 * b.actual_mb_per_s, "{b:?}");
        assert!(
            !b.text.is_empty()
                && !b.text.contains('\n')
                && b.text.contains(&format!("{:.0} %", expect.utilisation * 100.0)),
            "{}",
            b.text
        );
    }

    fn even_maps<'a>() -> [&'a [(&'a str, u64, f64, f64)]; 2] {
        [
            &[("map", 0, 10.0, 330.0), ("map", 2, 330.0, 660.0), ("map", 4, 660.0, 990.0)],
            &[("map", 1, 10.0, 330.0), ("map", 3, 330.0, 660.0), ("map", 5, 660.0, 990.0)],
        ]
    }

    #[test]
    fn busy_processors_bound_the_job() {
        let times =
            ResourceTimes { cpu_ms: 1900.0, read_wait_ms: Some(300.0), write_wait_ms: Some(0.0), ..Default::default() };
        let expect = Expect { resource: "cpu", stage: "map", next: "input", utilisation: 0.95, speedup: 1.905 };
        check(&report(1000, 1000.0, &even_maps()), times, expect);
    }

    #[test]
    fn the_next_resource_bounds_the_gain() {
        let times =
            ResourceTimes { cpu_ms: 1900.0, read_wait_ms: Some(800.0), write_wait_ms: Some(0.0), ..Default::default() };
        let expect = Expect { resource: "cpu", stage: "map", next: "disk_read", utilisation: 0.95, speedup: 1.25 };
        check(&report(1000, 1000.0, &even_maps()), times, expect);
    }

    #[test]
    fn busy_disk_bounds_the_job() {
        let times =
            ResourceTimes { cpu_ms: 600.0, write_wait_ms: Some(900.0), read_wait_ms: Some(0.0), ..Default::default() };
        let expect = Expect { resource: "disk_write", stage: "write", next: "cpu", utilisation: 0.9, speedup: 1.818 };
        check(&report(1000, 1000.0, &even_maps()), times, expect);
        // The same from the time in files: 1960 ms busy - 500 on processors - 100 waiting for them, 4 of 5 in reads.
        let times = ResourceTimes {
            cpu_ms: 500.0,
            cpu_wait_ms: 100.0,
            file_read_ms: 1200.0,
            file_write_ms: 300.0,
            disks: 2,
            ..Default::default()
        };
        let expect = Expect { resource: "disk_read", stage: "read", next: "cpu", utilisation: 0.544, speedup: 1.374 };
        check(&report(1000, 1000.0, &even_maps()), times, expect);
    }

    #[test]
    fn other_processes_on_the_processors_bound_the_job() {
        // TeraSort with a tmpfs for scratch and 4 other programs on 2 processors. Spans within others count once.
        let times = ResourceTimes {
            cpu_ms: 210.0,
            cpu_wait_ms: 1640.0,
            taken_ms: 1640.0,
            file_read_ms: 200.0,
            file_write_ms: 500.0,
            memory_files_ms: 400.0,
            ..Default::default()
        };
        let mut report = report(1000, 1000.0, &even_maps());
        report.workers[0].busy_ms = 1500.0;
        let expect =
            Expect { resource: "other_processes", stage: "map", next: "cpu", utilisation: 0.82, speedup: 1.695 };
        check(&report, times, expect);
        let text = find(&report, &times).text;
        assert!(text.starts_with("processors were taken by other processes: 82 % of the time"), "{text}");
        // A split that waits for a processor is not a long split.
        let mut one_split = super::tests::report(1000, 1000.0, &[&[("map", 0, 10.0, 990.0)], &[]]);
        one_split.machine.processors = 1;
        one_split.job.threads = 2;
        let times = ResourceTimes { cpu_ms: 100.0, cpu_wait_ms: 850.0, taken_ms: 850.0, ..Default::default() };
        assert_eq!(find(&one_split, &times).resource, "other_processes");
        // As many processors for others as for the job: its own use is named.
        let times = ResourceTimes { cpu_ms: 990.0, cpu_wait_ms: 980.0, taken_ms: 980.0, ..Default::default() };
        assert_eq!(find(&report, &times).resource, "cpu");
    }

    #[test]
    fn files_in_memory_use_no_disk() {
        let times =
            ResourceTimes { cpu_ms: 300.0, file_write_ms: 100.0, memory_files_ms: 1700.0, ..Default::default() };
        let b = find(&report(1000, 1000.0, &even_maps()), &times);
        assert!(!matches!(&*b.resource, "disk_read" | "disk_write") && !b.next.starts_with("disk"), "{b:?}");
        // The same time on a disk.
        let times = ResourceTimes { file_write_ms: 1800.0, memory_files_ms: 0.0, ..times };
        assert_eq!(find(&report(1000, 1000.0, &even_maps()), &times).resource, "disk_write");
    }

    #[test]
    fn files_of_another_machine_use_the_network() {
        let mut report = report(1000, 1000.0, &even_maps());
        report.stages[0].resource = "network".into();
        let times = ResourceTimes { cpu_ms: 900.0, network_files_ms: 950.0, ..Default::default() };
        let expect = Expect { resource: "network", stage: "read", next: "cpu", utilisation: 0.95, speedup: 1.905 };
        check(&report, times, expect);
        assert!(find(&report, &times).text.starts_with("the network bound it: files of another machine"));
    }

    #[test]
    fn utilisation_is_at_most_one() {
        let times = ResourceTimes { cpu_ms: 100.0, write_wait_ms: Some(1900.0), ..Default::default() };
        let expect = Expect { resource: "disk_write", stage: "write", next: "cpu", utilisation: 1.0, speedup: 2.0 };
        check(&report(1000, 1000.0, &even_maps()), times, expect);
    }

    #[test]
    fn one_split_bounds_two_workers() {
        let times = ResourceTimes { cpu_ms: 990.0, ..Default::default() };
        let expect = Expect { resource: "input", stage: "map", next: "cpu", utilisation: 0.98, speedup: 1.961 };
        check(&report(1000, 1000.0, &[&[("map", 0, 10.0, 990.0)], &[]]), times, expect);
    }

    #[test]
    fn one_long_split_bounds_the_job() {
        let times = ResourceTimes { cpu_ms: 1100.0, ..Default::default() };
        let long: &[_] = &[("map", 0, 10.0, 990.0)];
        let short: &[_] = &[("map", 1, 10.0, 30.0), ("map", 2, 30.0, 50.0), ("map", 3, 50.0, 70.0)];
        let expect = Expect { resource: "input", stage: "map", next: "cpu", utilisation: 0.98, speedup: 1.818 };
        check(&report(1000, 1000.0, &[long, short]), times, expect);
    }

    #[test]
    fn splits_are_next_after_as_many_processors() {
        let times = ResourceTimes { cpu_ms: 1960.0, ..Default::default() };
        let workers: [&[_]; 2] = [&[("map", 0, 10.0, 990.0)], &[("map", 1, 10.0, 990.0)]];
        let expect = Expect { resource: "cpu", stage: "map", next: "input", utilisation: 0.98, speedup: 1.02 };
        check(&report(1000, 1000.0, &workers), times, expect);
    }

    #[test]
    fn one_reduce_bounds_two_workers() {
        let times = ResourceTimes { cpu_ms: 1200.0, ..Default::default() };
        let workers: [&[_]; 2] = [&[("map", 0, 10.0, 200.0), ("reduce", 0, 200.0, 990.0)], &[("map", 1, 10.0, 200.0)]];
        let expect = Expect { resource: "partitions", stage: "reduce", next: "cpu", utilisation: 0.79, speedup: 1.653 };
        check(&report(1000, 1000.0, &workers), times, expect);
    }

    #[test]
    fn start_bounds_a_tiny_job() {
        let times = ResourceTimes { cpu_ms: 3.0, ..Default::default() };
        let expect = Expect { resource: "start", stage: "plan", next: "cpu", utilisation: 0.9, speedup: 1.818 };
        check(&report(0, 10.0, &[&[("map", 0, 8.0, 9.0)], &[]]), times, expect);
    }

    #[test]
    fn contended_lock_bounds_the_job() {
        let times = ResourceTimes { cpu_ms: 1000.0, lock_wait_ms: 900.0, ..Default::default() };
        let expect = Expect { resource: "locks", stage: "map", next: "cpu", utilisation: 0.9, speedup: 1.818 };
        check(&report(1000, 1000.0, &even_maps()), times, expect);
    }

    #[test]
    fn memory_bandwidth_bounds_the_job_if_measured() {
        let mut report = report(1000, 1000.0, &even_maps());
        report.stages[2].bytes = 19_000_000_000;
        let times = ResourceTimes { cpu_ms: 1500.0, memory_mb_per_s: Some(20_000.0), ..Default::default() };
        let expect = Expect { resource: "memory", stage: "sort", next: "cpu", utilisation: 0.95, speedup: 1.333 };
        check(&report, times, expect);
    }

    #[test]
    fn empty_report_does_not_panic() {
        let b = find(&Report::default(), &ResourceTimes::default());
        assert!(b.utilisation.is_finite() && b.speedup_if_doubled.is_finite() && !b.text.is_empty());
    }
}
