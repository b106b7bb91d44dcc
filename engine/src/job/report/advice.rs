//! Advice: what to change, concretely, made from a report. Each rule is a function that looks at one thing; the first ones in the
//! list are those that change most. A rule is silent where what it saw took little of the job's time.

use super::{Advice, Report};
use crate::memory::budget;

type Rule = fn(&Report) -> Option<Advice>;

const RULES: [Rule; 16] = [
    lost_attempts,
    whole_files,
    few_splits,
    long_split,
    skew,
    few_reduces,
    few_threads,
    spills,
    slow_scratch,
    failed_scratch,
    combine,
    many_reduces,
    tiny_tasks,
    launches,
    fetching,
    small_job,
];

/// A share of the job's time below which nothing is said.
const LITTLE: f64 = 0.05;
/// Jobs shorter than this are not worth a change.
const SHORT_MS: f64 = 200.0;

/// Needs all of the report but the advice itself.
pub fn give(report: &Report) -> Vec<Advice> {
    RULES.iter().filter_map(|rule| rule(report)).collect()
}

fn advice(rule: &str, seen: String, change: String, flag: Option<String>) -> Option<Advice> {
    Some(Advice { rule: rule.into(), seen, change, flag })
}

fn on_cluster(report: &Report) -> bool {
    report.job.id.is_some()
}

fn is_long(report: &Report) -> bool {
    report.job.wall_ms >= SHORT_MS
}

/// Share of all workers' busy time that stages took.
fn share(report: &Report, names: &[&str]) -> f64 {
    let sum =
        |of: &dyn Fn(&str) -> bool| -> f64 { report.stages.iter().filter(|s| of(&s.name)).map(|s| s.busy_ms).sum() };
    let all = sum(&|_| true);
    if all > 0.0 { sum(&|name| names.contains(&name)) / all } else { 0.0 }
}

fn percent(share: f64) -> String {
    format!("{:.0} %", share * 100.0)
}

fn counter(report: &Report, name: &str) -> u64 {
    report.counters.values().filter_map(|group| group.get(name)).sum()
}

fn bound_by(report: &Report, resource: &str) -> bool {
    report.bottleneck.resource == resource
}

/// Attempts that failed or were killed.
fn lost_attempts(report: &Report) -> Option<Advice> {
    let lost = report.tasks.iter().filter(|t| t.state != "succeeded").count();
    let took = share(report, &["lost"]);
    if lost == 0 || took < LITTLE {
        return None;
    }
    let nodes = report.tasks.iter().filter(|t| t.state != "succeeded").map(|t| &*t.node);
    let mut nodes: Vec<&str> = nodes.filter(|n| !n.is_empty()).collect();
    nodes.sort_unstable();
    nodes.dedup();
    let on = match nodes[..] {
        [one] => format!(", all on {one}"),
        _ => String::new(),
    };
    advice(
        "lost-attempts",
        format!("{lost} attempts were lost{on}, with {} of the time", percent(took)),
        "their logs say why (yarn logs); where they were killed for a faster twin, leave out speculation".into(),
        Some("-D mapreduce.map.speculative=false".into()),
    )
}

/// Files that one task had to read from start to end while others waited.
fn whole_files(report: &Report) -> Option<Advice> {
    let input = report.input.as_ref()?;
    let longest = input.longest_whole.as_ref()?;
    if !is_long(report) || !bound_by(report, "input") {
        return None;
    }
    let why = match &longest.codec {
        Some(codec) => format!("{codec} cannot be divided"),
        None => "a pipe and framed records cannot be divided".into(),
    };
    let n = input.whole_files;
    let others = if n > 1 { format!(" (and {} more files like it)", n - 1) } else { String::new() };
    let change = format!(
        "give it as {} files or more, so that each of the {} threads has one; as bzip2, which can be divided; or uncompressed, as lines",
        report.job.threads.max(2),
        report.job.threads
    );
    advice("whole-files", format!("one task read all of {}{others}: {why}", longest.path), change, None)
}

/// Fewer splits than threads, although the input could be cut.
fn few_splits(report: &Report) -> Option<Advice> {
    let input = report.input.as_ref()?;
    let (splits, threads) = (report.job.splits, u64::from(report.job.threads.min(report.machine.processors.max(1))));
    if !is_long(report) || splits == 0 || splits >= threads || input.longest_whole.is_some() {
        return None;
    }
    let each = (report.job.input_bytes / (threads * 2)).max(1 << 20);
    if each >= input.split_bytes {
        return None;
    }
    let flag = format!("--split-size {}", whole_size(each));
    advice(
        "few-splits",
        format!("{splits} splits of {} for {threads} threads", budget::size(input.split_bytes)),
        "smaller splits keep all of them busy".into(),
        Some(flag),
    )
}

/// Enough splits, and one of them as long as the job.
fn long_split(report: &Report) -> Option<Advice> {
    let input = report.input.as_ref()?;
    let alone = report.bottleneck.parallelism == 1.0 && report.job.splits > 1;
    if !is_long(report) || !bound_by(report, "input") || !alone || input.longest_whole.is_some() {
        return None;
    }
    let maps = report.workers.iter().flat_map(|w| &w.spans).filter(|s| s.kind == "map");
    let longest = maps.max_by(|a, b| (a.end_ms - a.start_ms).total_cmp(&(b.end_ms - b.start_ms)))?;
    let each = (input.split_bytes / 4).max(1 << 20);
    if each >= input.split_bytes {
        return None;
    }
    let took = (longest.end_ms - longest.start_ms) / report.job.wall_ms.max(1e-6);
    advice(
        "long-split",
        format!("split {} alone took {} of the time", longest.task, percent(took.min(1.0))),
        "smaller splits divide its records among the workers".into(),
        Some(format!("--split-size {}", whole_size(each))),
    )
}

/// One partition with far more records than the others.
fn skew(report: &Report) -> Option<Advice> {
    let partitions = report.partitions.as_ref().filter(|p| p.of == "partition" && p.count > 1)?;
    let column = partitions.measures.iter().position(|m| m.name == "input_records")?;
    let measure = &partitions.measures[column];
    let fair = 1.0 / partitions.count as f64;
    let has = measure.most as f64 / measure.total.max(1) as f64;
    let reducing = share(report, &["sort", "merge", "reduce", "write", "shuffle"]);
    if !is_long(report) || has < 0.25 || has < fair * 2.0 || reducing < LITTLE * 2.0 {
        return None;
    }
    let fullest = partitions.rows.iter().find(|r| r.values.get(column) == Some(&measure.most))?;
    let seen = format!(
        "partition {} has {} of the records, {} would be even: one key or a few hold them",
        fullest.number,
        percent(has),
        percent(fair)
    );
    let classes = &report.job.classes;
    if classes.contains_key("reducer") && !classes.contains_key("combiner") {
        let change = "a combiner or a folder makes one record of many before they meet";
        return advice("skew", seen, change.into(), Some("--combiner CLASS".into()));
    }
    let change = "divide by sampled ranges, or by a partitioner of your own that knows these keys";
    let ranges = classes.get("partitioner").is_none_or(|p| p != "total-order");
    advice("skew", seen, change.into(), ranges.then(|| "--partitioner total-order".into()))
}

/// Reduce tasks were what the job waited for.
fn few_reduces(report: &Report) -> Option<Advice> {
    let (reduces, threads) = (report.job.reduces, report.job.threads);
    if !is_long(report) || !bound_by(report, "partitions") || reduces >= threads {
        return None;
    }
    let flag =
        if on_cluster(report) { format!("-D mapreduce.job.reduces={threads}") } else { format!("--reduces {threads}") };
    advice(
        "few-reduces",
        format!("{reduces} reduce tasks for {threads} workers, {} of the time", percent(report.bottleneck.utilisation)),
        "as many partitions as workers share the work; a reducer that is declared pure needs no more partitions".into(),
        Some(flag),
    )
}

/// Processors that were not asked to work.
fn few_threads(report: &Report) -> Option<Advice> {
    let (threads, processors) = (report.job.threads, report.machine.processors);
    let enough = report.job.splits >= u64::from(processors);
    if on_cluster(report) || !is_long(report) || threads >= processors || !bound_by(report, "cpu") || !enough {
        return None;
    }
    advice(
        "few-threads",
        format!("{threads} of {processors} processors were used, and they bound the job"),
        "use all of them; where the memory was too small for more workers, give more of it too".into(),
        Some(format!("--threads {processors}")),
    )
}

/// What it would take to keep all records in memory, where spilling took time.
fn spills(report: &Report) -> Option<Advice> {
    let spill = &report.spill;
    let took = share(report, &["spill", "merge"]);
    if on_cluster(report) || spill.runs == 0 || took < LITTLE || !is_long(report) {
        return None;
    }
    let passes = match spill.merge_passes {
        0 => String::new(),
        1 => " and 1 merge pass".into(),
        n => format!(" and {n} merge passes"),
    };
    let seen = format!("{} runs were spilled; spilling and merging took {} of the time", spill.runs, percent(took));
    let need = in_memory_bytes(report);
    let fits = report.machine.memory_bytes == 0 || need <= report.machine.memory_bytes / 10 * 8;
    if fits && need > report.memory.budget_bytes {
        let memory = whole_size(need);
        let change = format!("about {memory} of memory would avoid {} spills{passes}", spill.runs);
        return advice("spills", seen, change, Some(format!("--memory {memory}")));
    }
    let classes = &report.job.classes;
    let (change, flag) = if classes.contains_key("reducer") && !classes.contains_key("combiner") {
        ("a combiner or a folder makes fewer of them", "--combiner CLASS")
    } else {
        ("scratch directories on several fast disks, and as much memory as there is", "--scratch DIR")
    };
    advice("spills", seen, format!("the records do not fit into this machine: {change}"), Some(flag.into()))
}

/// About what a sort of all records takes: the records and two entries of each, and a quarter more since workers do not take even
/// shares. Tried with lines and with TeraSort's records.
fn in_memory_bytes(report: &Report) -> u64 {
    let spill = &report.spill;
    let records = spill.raw_bytes + spill.records * 32;
    records + records / 4 + u64::from(report.job.threads) * (8 << 20)
}

/// Spills to one disk that could not follow.
fn slow_scratch(report: &Report) -> Option<Advice> {
    let disk = bound_by(report, "disk_write") || bound_by(report, "disk_read");
    let of_spills = matches!(&*report.bottleneck.stage, "spill" | "merge");
    if on_cluster(report) || report.spill.runs == 0 || report.spill.directories.len() != 1 || !disk || !of_spills {
        return None;
    }
    advice(
        "slow-scratch",
        format!("all spills went to {}, whose disk bounds the job", report.spill.directories[0]),
        "add a directory on another disk, or one on a faster one alone".into(),
        Some("--scratch DIR".into()),
    )
}

fn failed_scratch(report: &Report) -> Option<Advice> {
    let failed = &report.spill.failed_directories;
    if failed.is_empty() {
        return None;
    }
    let seen = format!("{} failed while the job ran and was taken out of use", failed.join(", "));
    advice("failed-scratch", seen, "look at its disk, or leave it out of --scratch".into(), None)
}

/// Many records a key go through a sort, and nothing makes fewer of them.
fn combine(report: &Report) -> Option<Advice> {
    let classes = &report.job.classes;
    let (records, groups) = (counter(report, "REDUCE_INPUT_RECORDS"), counter(report, "REDUCE_INPUT_GROUPS"));
    let sorting = share(report, &["collect", "spill", "sort", "merge", "shuffle"]);
    let combines = classes.contains_key("combiner") || classes.contains_key("folder");
    if !is_long(report) || !classes.contains_key("reducer") || combines || groups == 0 || sorting < LITTLE * 3.0 {
        return None;
    }
    let each = records / groups;
    if each < 10 {
        return None;
    }
    advice(
        "combine",
        format!("each key has {each} records on average, and {} of the time went into sorting them", percent(sorting)),
        "if your reducer can work on parts of a key's values, name it as the combiner, or write it as a folder".into(),
        Some("--combiner CLASS".into()),
    )
}

/// Part files too small to be worth their names.
fn many_reduces(report: &Report) -> Option<Advice> {
    let (reduces, threads) = (u64::from(report.job.reduces), u64::from(report.job.threads.max(1)));
    let each = report.job.output_bytes / reduces.max(1);
    if reduces <= threads * 4 || reduces < 32 || each >= 1 << 20 || report.job.output.is_none() {
        return None;
    }
    let enough = (report.job.output_bytes >> 26).max(threads).max(1);
    let n =
        if on_cluster(report) { format!("-D mapreduce.job.reduces={enough}") } else { format!("--reduces {enough}") };
    advice(
        "many-reduces",
        format!("{reduces} part files of {} each on average", budget::size(each)),
        "fewer and larger ones are quicker to write and to read".into(),
        Some(n),
    )
}

/// On a cluster: many tasks with little to do.
fn tiny_tasks(report: &Report) -> Option<Advice> {
    let each = report.job.input_bytes / report.job.splits.max(1);
    let launching = share(report, &["launch", "jvm-start"]);
    if !on_cluster(report) || report.job.splits < 16 || each > 32 << 20 || launching < 0.2 {
        return None;
    }
    advice(
        "tiny-tasks",
        format!(
            "{} map tasks of {} each; starting them took {} of the time",
            report.job.splits,
            budget::size(each),
            percent(launching)
        ),
        "larger splits need fewer containers; many small files are read together by CombineTextInputFormat".into(),
        Some("-D mapreduce.input.fileinputformat.split.minsize=268435456".into()),
    )
}

/// On a cluster: the start of containers is most of a job that has few of them.
fn launches(report: &Report) -> Option<Advice> {
    if !on_cluster(report) || !bound_by(report, "start") {
        return None;
    }
    advice(
        "launches",
        "the cluster was mostly busy with starting the job and its containers".into(),
        "a job of this size is done sooner in one container, or by yunti run on one machine".into(),
        Some("-D mapreduce.job.ubertask.enable=true".into()),
    )
}

/// On a cluster: reduces waited for map output.
fn fetching(report: &Report) -> Option<Advice> {
    if !on_cluster(report) || !bound_by(report, "network") {
        return None;
    }
    advice(
        "fetching",
        "reduces waited for map output when all maps were done".into(),
        "compress map output, and combine where that can be".into(),
        Some("-D mapreduce.map.output.compress=true".into()),
    )
}

/// So small that nothing of it can be made faster.
fn small_job(report: &Report) -> Option<Advice> {
    if on_cluster(report) || !bound_by(report, "start") || is_long(report) {
        return None;
    }
    advice(
        "small-job",
        "the job is over before all workers have begun".into(),
        "nothing to change at this size".into(),
        None,
    )
}

/// A size that holds `bytes`, as a flag's value, in steps that people choose: 48MiB, 768MiB, 3GiB.
fn whole_size(bytes: u64) -> String {
    let mib = bytes.div_ceil(1 << 20).max(1);
    let step = (mib.next_power_of_two() / 8).max(1);
    let mib = mib.next_multiple_of(step);
    if mib.is_multiple_of(1024) { format!("{}GiB", mib / 1024) } else { format!("{mib}MiB") }
}

#[cfg(test)]
mod tests {
    use super::super::{Input, Measure, PartitionRow, Partitions, Span, Stage, TaskRow, WholeFile, Worker};
    use super::*;

    /// A job of 10 s on two of two processors in which nothing stands out.
    fn quiet() -> Report {
        let mut report = Report::default();
        report.job.wall_ms = 10_000.0;
        report.job.threads = 2;
        report.job.reduces = 2;
        report.job.splits = 64;
        report.job.input_bytes = 1 << 30;
        report.job.output_bytes = 1 << 30;
        report.job.output = Some("out".into());
        report.machine.processors = 2;
        report.machine.memory_bytes = 16 << 30;
        report.memory.budget_bytes = 1 << 30;
        report.bottleneck.resource = "cpu".into();
        report.bottleneck.parallelism = 2.0;
        report.bottleneck.utilisation = 0.9;
        report.input = Some(Input { files: 1, split_bytes: 16 << 20, ..Input::default() });
        for (name, busy_ms) in [("read", 2000.0), ("map", 8000.0), ("sort", 5000.0), ("reduce", 4000.0)] {
            report.stages.push(Stage { name: name.into(), busy_ms, ..Stage::default() });
        }
        report
    }

    fn on_a_cluster() -> Report {
        let mut report = quiet();
        report.job.id = Some("job_7_0001".into());
        report.input = None;
        report
    }

    fn stage(report: &mut Report, name: &str, busy_ms: f64) {
        report.stages.push(Stage { name: name.into(), busy_ms, ..Stage::default() });
    }

    fn count(report: &mut Report, name: &str, n: u64) {
        report.counters.entry("Tasks".into()).or_default().insert(name.into(), n);
    }

    fn class(report: &mut Report, role: &str, name: &str) {
        report.job.classes.insert(role.into(), name.into());
    }

    /// The one rule that speaks, with all of its words and its flag in `parts`.
    fn fires(report: &Report, rule: &str, parts: &[&str]) {
        let given = give(report);
        let rules: Vec<&str> = given.iter().map(|a| &*a.rule).collect();
        assert_eq!(rules, [rule], "{given:?}");
        let text = format!("{} {} {}", given[0].seen, given[0].change, given[0].flag.clone().unwrap_or_default());
        for part in parts {
            assert!(text.contains(part), "{part}: {text}");
        }
    }

    fn is_quiet(report: &Report) {
        assert_eq!(give(report), []);
    }

    #[test]
    fn nothing_stands_out() {
        is_quiet(&quiet());
        is_quiet(&on_a_cluster());
        is_quiet(&Report::default());
    }

    #[test]
    fn attempts_that_were_lost() {
        let mut report = on_a_cluster();
        report.tasks.push(TaskRow { state: "failed".into(), node: "b".into(), ..TaskRow::default() });
        is_quiet(&report);
        stage(&mut report, "lost", 3000.0);
        fires(&report, "lost-attempts", &["1 attempts were lost, all on b", "14 %", "speculative"]);
    }

    #[test]
    fn one_large_compressed_file() {
        let mut report = quiet();
        let file = WholeFile { path: "logs.gz".into(), bytes: 3 << 30, codec: Some("gzip".into()) };
        report.input = Some(Input { whole_files: 1, longest_whole: Some(file), ..Input::default() });
        report.job.splits = 1;
        // Others kept the processors busy.
        is_quiet(&report);
        report.bottleneck.resource = "input".into();
        fires(&report, "whole-files", &["all of logs.gz", "gzip cannot be divided", "2 files or more"]);
        report.job.wall_ms = SHORT_MS / 2.0;
        is_quiet(&report);
    }

    #[test]
    fn fewer_splits_than_threads() {
        let mut report = quiet();
        report.job.splits = 1;
        report.job.input_bytes = 16 << 20;
        fires(&report, "few-splits", &["1 splits of 16 MiB for 2 threads", "--split-size 4MiB"]);
        report.job.splits = 2;
        is_quiet(&report);
        report.job.splits = 1;
        report.job.input_bytes = 100;
        report.input.as_mut().unwrap().split_bytes = 1 << 20;
        is_quiet(&report);
    }

    #[test]
    fn one_split_as_long_as_the_job() {
        let mut report = quiet();
        report.bottleneck.resource = "input".into();
        report.bottleneck.parallelism = 1.0;
        is_quiet(&report);
        let span = |task, end_ms| Span { kind: "map".into(), task, end_ms, ..Span::default() };
        report.workers.push(Worker { spans: vec![span(4, 100.0), span(7, 9000.0)], ..Worker::default() });
        fires(&report, "long-split", &["split 7 alone took 90 %", "--split-size 4MiB"]);
        report.bottleneck.parallelism = 2.0;
        is_quiet(&report);
    }

    fn skewed(values: [u64; 4]) -> Report {
        let mut report = quiet();
        let measure = Measure {
            name: "input_records".into(),
            total: values.iter().sum(),
            most: values.into_iter().max().unwrap_or(0),
            ..Measure::default()
        };
        let rows = (0..).zip(values).map(|(number, value)| PartitionRow { number, values: vec![value] }).collect();
        report.partitions = Some(Partitions { of: "partition".into(), count: 4, measures: vec![measure], rows });
        report
    }

    #[test]
    fn one_partition_with_most_of_the_records() {
        let mut report = skewed([10, 10, 70, 10]);
        fires(&report, "skew", &["partition 2 has 70 %", "25 % would be even", "--partitioner total-order"]);
        class(&mut report, "reducer", "Mine.Reducer");
        fires(&report, "skew", &["--combiner CLASS"]);
        class(&mut report, "combiner", "Mine.Reducer");
        class(&mut report, "partitioner", "total-order");
        fires(&report, "skew", &["a partitioner of your own"]);
        assert_eq!(give(&report)[0].flag, None);
        is_quiet(&skewed([20, 20, 40, 20]));
    }

    #[test]
    fn fewer_reduces_than_workers() {
        let mut report = quiet();
        report.job.reduces = 1;
        is_quiet(&report);
        report.bottleneck.resource = "partitions".into();
        fires(&report, "few-reduces", &["1 reduce tasks for 2 workers, 90 %", "--reduces 2"]);
        report.job.id = Some("job".into());
        fires(&report, "few-reduces", &["-D mapreduce.job.reduces=2"]);
        report.job.reduces = 2;
        is_quiet(&report);
    }

    #[test]
    fn one_thread_of_two_processors() {
        let mut report = quiet();
        report.job.threads = 1;
        fires(&report, "few-threads", &["1 of 2 processors", "--threads 2"]);
        report.bottleneck.resource = "disk_read".into();
        is_quiet(&report);
    }

    fn spilled() -> Report {
        let mut report = quiet();
        report.spill.runs = 12;
        report.spill.records = 1_000_000;
        report.spill.raw_bytes = 2 << 30;
        report.spill.merge_passes = 3;
        report.spill.directories = vec!["/scratch".into()];
        stage(&mut report, "spill", 5000.0);
        report
    }

    #[test]
    fn spills_that_more_memory_would_avoid() {
        let mut report = spilled();
        fires(&report, "spills", &["12 runs", "21 %", "avoid 12 spills and 3 merge passes", "--memory 3GiB"]);
        // Not in this machine.
        report.machine.memory_bytes = 2 << 30;
        fires(&report, "spills", &["do not fit into this machine", "--scratch DIR"]);
        class(&mut report, "reducer", "Mine.Reducer");
        fires(&report, "spills", &["a combiner or a folder", "--combiner CLASS"]);
        // Spills that cost nothing.
        let mut cheap = spilled();
        cheap.stages.last_mut().unwrap().busy_ms = 500.0;
        is_quiet(&cheap);
    }

    #[test]
    fn scratch_on_one_slow_disk() {
        let mut report = spilled();
        report.stages.last_mut().unwrap().busy_ms = 500.0;
        report.bottleneck.resource = "disk_write".into();
        report.bottleneck.stage = "spill".into();
        fires(&report, "slow-scratch", &["/scratch", "--scratch DIR"]);
        report.spill.directories.push("/other".into());
        is_quiet(&report);
        report.spill.directories.pop();
        report.bottleneck.stage = "write".into();
        is_quiet(&report);
    }

    #[test]
    fn a_scratch_directory_that_failed() {
        let mut report = quiet();
        report.spill.failed_directories = vec!["/bad".into()];
        fires(&report, "failed-scratch", &["/bad failed"]);
    }

    #[test]
    fn many_records_a_key_and_no_combiner() {
        let mut report = quiet();
        count(&mut report, "REDUCE_INPUT_RECORDS", 5_000_000);
        count(&mut report, "REDUCE_INPUT_GROUPS", 1000);
        is_quiet(&report);
        class(&mut report, "reducer", "Mine.Reducer");
        fires(&report, "combine", &["5000 records on average", "26 %", "--combiner CLASS"]);
        count(&mut report, "REDUCE_INPUT_GROUPS", 1_000_000);
        is_quiet(&report);
        count(&mut report, "REDUCE_INPUT_GROUPS", 1000);
        class(&mut report, "combiner", "Mine.Reducer");
        is_quiet(&report);
    }

    #[test]
    fn a_thousand_tiny_part_files() {
        let mut report = quiet();
        report.job.reduces = 1000;
        report.job.output_bytes = 100 << 20;
        fires(&report, "many-reduces", &["1000 part files of 102.4 KiB", "--reduces 2"]);
        report.job.output_bytes = 10 << 30;
        is_quiet(&report);
        report.job.output_bytes = 100 << 20;
        report.job.output = None;
        is_quiet(&report);
    }

    #[test]
    fn containers_for_next_to_nothing() {
        let mut report = on_a_cluster();
        stage(&mut report, "jvm-start", 30_000.0);
        report.job.input_bytes = 64 << 20;
        fires(&report, "tiny-tasks", &["64 map tasks of 1 MiB", "61 %", "split.minsize"]);
        report.job.input_bytes = 64 << 30;
        is_quiet(&report);
    }

    #[test]
    fn a_cluster_that_mostly_starts() {
        let mut report = on_a_cluster();
        report.bottleneck.resource = "start".into();
        fires(&report, "launches", &["ubertask"]);
        report.bottleneck.resource = "cpu".into();
        is_quiet(&report);
    }

    #[test]
    fn reduces_that_wait_for_the_network() {
        let mut report = on_a_cluster();
        report.bottleneck.resource = "network".into();
        fires(&report, "fetching", &["mapreduce.map.output.compress=true"]);
        report.job.id = None;
        is_quiet(&report);
    }

    #[test]
    fn a_job_that_is_over_at_once() {
        let mut report = quiet();
        report.bottleneck.resource = "start".into();
        is_quiet(&report);
        report.job.wall_ms = 10.0;
        fires(&report, "small-job", &["nothing to change"]);
    }

    #[test]
    fn sizes_that_people_choose() {
        for (mib, expect) in
            [(1, "1MiB"), (47, "48MiB"), (700, "768MiB"), (2500, "2560MiB"), (2561, "3GiB"), (9000, "10GiB")]
        {
            assert_eq!(whole_size(mib << 20), expect);
        }
    }
}
