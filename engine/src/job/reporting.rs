//! From the meters of a finished job to its report.

use std::sync::atomic::Ordering;

use super::execute::Running;
use super::machine;
use super::mapping::TASK_COUNTERS;
use super::report::{Bottleneck, JobInfo, Memory, REPORT_FORMAT, Report};
use super::spec::{Mode, OutputTarget};

pub fn make(running: &Running<'_>, started_unix_ms: u64, cpu_before_ns: u64, output_bytes: u64) -> Report {
    let spec = running.spec;
    let (cpu_ns, resident) = machine::process_usage();
    let wall_ms = (running.env.clock.now_ns() - running.meter.start_ns()) as f64 / 1e6;
    let output_records = running.totals.records.load(Ordering::Relaxed);
    let output_counter = if spec.mode == Mode::None { "MAP_OUTPUT_RECORDS" } else { "REDUCE_OUTPUT_RECORDS" };
    running.count(TASK_COUNTERS, output_counter, output_records);
    let mut counters = std::collections::BTreeMap::new();
    for ((group, name), n) in running.counters.lock().unwrap_or_else(|e| e.into_inner()).iter() {
        counters.entry(group.clone()).or_insert_with(std::collections::BTreeMap::new).insert(name.clone(), *n);
    }
    let input_records = counters.get(TASK_COUNTERS).and_then(|g| g.get("MAP_INPUT_RECORDS")).copied().unwrap_or(0);
    let report = Report {
        format: REPORT_FORMAT.into(),
        job: JobInfo {
            name: spec.name.clone(),
            version: env!("CARGO_PKG_VERSION").into(),
            mode: match spec.mode {
                Mode::Sorted => "sorted",
                Mode::Grouped => "grouped",
                Mode::None => "none",
            }
            .into(),
            reduces: if spec.mode == Mode::None { 0 } else { spec.reduces },
            splits: running.plan.splits.len() as u64,
            threads: running.crew.workers as u32,
            started_unix_ms,
            wall_ms,
            cpu_ms: cpu_ns.saturating_sub(cpu_before_ns) as f64 / 1e6,
            input_bytes: running.plan.input_bytes,
            input_records,
            output_bytes,
            output_records,
            output: match &spec.output {
                OutputTarget::Directory(path) => Some(path.to_string_lossy().into_owned()),
                _ => None,
            },
        },
        machine: machine::describe(running.env.threads.processors()),
        stages: running.meter.stages(),
        workers: running.meter.workers(),
        memory: Memory {
            budget_bytes: running.budget.limit_bytes(),
            peak_bytes: running.budget.peak_bytes(),
            peak_resident_bytes: resident,
        },
        spill: running.spill.lock().unwrap_or_else(|e| e.into_inner()).clone(),
        counters,
        bottleneck: Bottleneck::default(),
    };
    report
}
