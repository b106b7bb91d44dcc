//! Advice: concrete changes, derived from a report. Each rule is a function about one cause; rules with the largest
//! effect come first. A rule is silent if its cause took little of the job's time.

#[cfg(test)]
mod check;
mod classes;
mod cluster;
mod disks;
mod input;
mod joins;
mod machine;
mod memory;
mod parallelism;
mod programs;

use super::{Advice, Report};
use crate::memory::budget;

type Rule = fn(&Report) -> Option<Advice>;

const RULES: [Rule; 32] = [
    cluster::lost_attempts,
    disks::failed_scratch,
    disks::bad_reads,
    disks::full_disk,
    machine::cpu_quota,
    classes::slow_group,
    classes::slow_class,
    classes::slow_writer,
    input::whole_files,
    input::huge_record,
    input::small_files,
    input::few_splits,
    input::long_split,
    disks::cold_cache,
    disks::slow_disk,
    joins::sorted_instead,
    joins::large_side,
    parallelism::hot_key,
    parallelism::skew,
    parallelism::few_reduces,
    programs::few_reducers,
    parallelism::few_threads,
    memory::spills,
    disks::slow_scratch,
    parallelism::many_reduces,
    parallelism::combine,
    machine::busy_neighbour,
    cluster::tiny_tasks,
    cluster::launches,
    cluster::fetching,
    programs::unbuffered_python,
    parallelism::small_job,
];

/// Share of the job's time below which a cause is ignored.
const LITTLE: f64 = 0.05;
/// Duration of a job, in milliseconds, below which no change pays.
const SHORT_MS: f64 = 200.0;

/// Returns the advice for a report. Needs all of the report except `advice`.
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

/// Returns the share of all workers' busy time that these stages took.
fn share(report: &Report, names: &[&str]) -> f64 {
    let sum =
        |of: &dyn Fn(&str) -> bool| -> f64 { report.stages.iter().filter(|s| of(&s.name)).map(|s| s.busy_ms).sum() };
    let all = sum(&|_| true);
    if all > 0.0 { sum(&|name| names.contains(&name)) / all } else { 0.0 }
}

/// Returns true if a combiner could make fewer records for the job's reducer.
fn wants_combiner(report: &Report) -> bool {
    let classes = &report.job.classes;
    let reducer = classes.get("reducer").filter(|name| !joins::REDUCERS.contains(&&name[..]));
    reducer.is_some() && !classes.contains_key("combiner") && !classes.contains_key("folder")
}

/// Returns the busy time of all workers.
fn busy_ms(report: &Report) -> f64 {
    report.stages.iter().map(|s| s.busy_ms).sum()
}

/// Returns `ms` as a share of the busy time of all workers.
fn part_of_busy(report: &Report, ms: f64) -> f64 {
    (ms / busy_ms(report).max(1e-6)).min(1.0)
}

/// Returns the part of the time in system calls in which workers did not wait for a processor, since such waits make
/// every call seem slow.
fn in_calls(report: &Report, ms: f64) -> f64 {
    let waited = report.waits.as_ref().map_or(0.0, |w| w.processor_ms);
    let busy: f64 = report.workers.iter().map(|w| w.busy_ms).sum();
    ms * (1.0 - waited / busy.max(1e-6)).clamp(0.05, 1.0)
}

/// Returns true for a class of the user, false for one of the engine.
fn is_own(name: &str) -> bool {
    !name.starts_with("Yunti.") && name != "total-order"
}

fn rate(bytes: u64, ms: f64) -> String {
    format!("{}/s", budget::size((bytes as f64 * 1000.0 / ms.max(1e-6)) as u64))
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

/// Returns a size that holds `bytes`, as the value of a flag, in common steps: 48MiB, 768MiB, 3GiB.
fn whole_size(bytes: u64) -> String {
    let mib = bytes.div_ceil(1 << 20).max(1);
    let step = (mib.next_power_of_two() / 8).max(1);
    let mib = mib.next_multiple_of(step);
    if mib.is_multiple_of(1024) { format!("{}GiB", mib / 1024) } else { format!("{mib}MiB") }
}
