//! From the meters of a finished job to its report.

use std::sync::atomic::Ordering;

use super::bottleneck::{self, ResourceTimes};
use super::limits::{self, Limits};
use super::{Bottleneck, JobInfo, Memory, REPORT_FORMAT, Report};
use crate::env::Env;
use crate::job::machine;
use crate::job::phase::mapping::TASK_COUNTERS;
use crate::job::phase::running::Running;
use crate::job::spec::{Mode, OutputTarget};

/// What the process had used when the job began.
pub struct Before {
    unix_ms: u64,
    cpu_ns: u64,
    disk: (u64, u64),
}

impl Before {
    pub fn now(env: &Env) -> Before {
        Before { unix_ms: env.clock.unix_ms(), cpu_ns: env.clock.cpu_ns(), disk: machine::disk_bytes() }
    }
}

pub fn make(running: &Running<'_>, before: &Before, output_bytes: u64) -> Report {
    let spec = running.spec;
    let cpu_ns = running.env.clock.cpu_ns();
    let wall_ms = (running.env.clock.now_ns() - running.meter.start_ns()) as f64 / 1e6;
    let output_records = running.totals.records.load(Ordering::Relaxed);
    let output_counter = if spec.mode == Mode::None { "MAP_OUTPUT_RECORDS" } else { "REDUCE_OUTPUT_RECORDS" };
    running.count(TASK_COUNTERS, output_counter, output_records);
    let mut counters = std::collections::BTreeMap::new();
    for ((group, name), n) in running.counters.lock().unwrap_or_else(|e| e.into_inner()).iter() {
        counters.entry(group.clone()).or_insert_with(std::collections::BTreeMap::new).insert(name.clone(), *n);
    }
    let input_records = counters.get(TASK_COUNTERS).and_then(|g| g.get("MAP_INPUT_RECORDS")).copied().unwrap_or(0);
    let mut report = Report {
        format: REPORT_FORMAT.into(),
        job: JobInfo {
            name: spec.name.clone(),
            id: None,
            state: None,
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
            started_unix_ms: before.unix_ms,
            wall_ms,
            cpu_ms: cpu_ns.saturating_sub(before.cpu_ns) as f64 / 1e6,
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
        tasks: Vec::new(),
        memory: Memory {
            budget_bytes: running.budget.limit_bytes(),
            peak_bytes: running.budget.peak_bytes(),
            peak_resident_bytes: machine::peak_resident_bytes(),
        },
        spill: running.spill.lock().unwrap_or_else(|e| e.into_inner()).clone(),
        counters,
        bottleneck: Bottleneck::default(),
    };
    let limits = measured_limits(running);
    if let Some(limits) = &limits {
        for stage in &mut report.stages {
            stage.limit_mb_per_s = limits.of_resource(&stage.resource);
        }
    }
    let disk = machine::disk_bytes();
    let times = ResourceTimes {
        cpu_ms: report.job.cpu_ms,
        disk_read_bytes: disk.0.saturating_sub(before.disk.0),
        disk_write_bytes: disk.1.saturating_sub(before.disk.1),
        memory_mb_per_s: limits.and_then(|l| l.of_resource("memory")),
        ..ResourceTimes::default()
    };
    report.bottleneck = bottleneck::find(&report, &times);
    report
}

/// What `yunti limits` measured on this machine, if it ran.
fn measured_limits(running: &Running<'_>) -> Option<Limits> {
    let path = running.env.cache_dir.as_ref()?.join(limits::FILE_NAME);
    Limits::load(&*running.env.files, &path)
}
