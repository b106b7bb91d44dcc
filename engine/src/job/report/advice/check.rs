//! Test support of the rules: a quiet report, and checks that exactly one rule fires.

pub use super::super::{
    GroupSize, GroupUse, Input, LargeRecord, Measure, PartitionRow, Partitions, Span, Stage, TaskRow, WholeFile, Worker,
};
use super::*;

/// Returns a report of 10 s on two processors in which nothing stands out.
pub fn quiet() -> Report {
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

/// Returns the same for a job on a cluster.
pub fn on_a_cluster() -> Report {
    let mut report = quiet();
    report.job.id = Some("job_7_0001".into());
    report.input = None;
    report
}

/// Adds a stage.
pub fn stage(report: &mut Report, name: &str, busy_ms: f64) {
    report.stages.push(Stage { name: name.into(), busy_ms, ..Stage::default() });
}

/// Sets a counter of tasks.
pub fn count(report: &mut Report, name: &str, n: u64) {
    report.counters.entry("Tasks".into()).or_default().insert(name.into(), n);
}

/// Sets the class of a role.
pub fn class(report: &mut Report, role: &str, name: &str) {
    report.job.classes.insert(role.into(), name.into());
}

/// Checks that only `rule` fires, with all `parts` in its words and flag.
pub fn fires(report: &Report, rule: &str, parts: &[&str]) {
    let given = give(report);
    let rules: Vec<&str> = given.iter().map(|a| &*a.rule).collect();
    assert_eq!(rules, [rule], "{given:?}");
    let text = format!("{} {} {}", given[0].seen, given[0].change, given[0].flag.clone().unwrap_or_default());
    for part in parts {
        assert!(text.contains(part), "{part}: {text}");
    }
}

/// Checks that no rule fires.
pub fn is_quiet(report: &Report) {
    assert_eq!(give(report), []);
}

#[test]
fn no_rule_fires_on_quiet_reports() {
    is_quiet(&quiet());
    is_quiet(&on_a_cluster());
    is_quiet(&Report::default());
}

/// Returns a report of a job that spilled.
pub fn spilled() -> Report {
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
fn sizes_are_rounded_up_to_common_steps() {
    for (mib, expect) in
        [(1, "1MiB"), (47, "48MiB"), (700, "768MiB"), (2500, "2560MiB"), (2561, "3GiB"), (9000, "10GiB")]
    {
        assert_eq!(whole_size(mib << 20), expect);
    }
}
