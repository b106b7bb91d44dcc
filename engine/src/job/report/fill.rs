//! From the meters of a finished job to its report.

use std::sync::atomic::Ordering;

use super::bottleneck::{self, ResourceTimes};
use super::limits::{self, Limits};
use super::{Input, JobInfo, Memory, REPORT_FORMAT, Report, Stage, WholeFile, advice};
use crate::env::Env;
use crate::job::machine;
use crate::job::phase::mapping::TASK_COUNTERS;
use crate::job::phase::running::Running;
use crate::job::plan::Plan;
use crate::job::spec::{JobSpec, Mode, OutputTarget, Partitioning};

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
            classes: classes(spec, running.plan),
        },
        machine: machine::describe(running.env.threads.processors()),
        input: Some(input(running.plan)),
        stages: running.meter.stages(),
        workers: running.meter.workers(),
        tasks: Vec::new(),
        memory: Memory {
            budget_bytes: running.budget.limit_bytes(),
            peak_bytes: running.budget.peak_bytes(),
            peak_resident_bytes: machine::peak_resident_bytes(),
            samples: running.memory.samples(),
        },
        spill: running.spill.lock().unwrap_or_else(|e| e.into_inner()).clone(),
        partitions: running
            .partitions
            .summary(if spec.mode == Mode::None { "split" } else { "partition" }, &running.totals),
        counters,
        ..Report::default()
    };
    written(&mut report.stages, running.totals.bytes.load(Ordering::Relaxed));
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
    report.advice = advice::give(&report);
    report
}

/// Where workers merge tables nobody knows what a record took, but the output does.
fn written(stages: &mut [Stage], output_bytes: u64) {
    if let Some(write) = stages.iter_mut().find(|s| s.name == "write" && s.bytes == 0 && s.busy_ms > 0.0) {
        write.bytes = output_bytes;
        write.mb_per_s = output_bytes as f64 / 1e3 / write.busy_ms;
    }
}

fn classes(spec: &JobSpec, plan: &Plan) -> std::collections::BTreeMap<String, String> {
    let classes = [
        ("combiner", &plan.combiner),
        ("reducer", &plan.reducer),
        ("folder", &plan.folder),
        ("partitioner", &plan.partitioner),
    ];
    let own = classes.into_iter().filter_map(|(role, class)| Some((role.into(), class.as_ref()?.info().name.clone())));
    let order =
        matches!(spec.partitioning, Partitioning::TotalOrder).then(|| ("partitioner".into(), "total-order".into()));
    let mappers: Vec<&str> =
        plan.sources.iter().filter_map(|s| s.mapper.as_ref()).map(|m| m.info().name.as_str()).collect();
    let mapper = (!mappers.is_empty()).then(|| ("mapper".into(), mappers.join(", ")));
    own.chain(order).chain(mapper).collect()
}

fn input(plan: &Plan) -> Input {
    let mut input = Input { files: plan.files.len() as u64, split_bytes: plan.split_bytes, ..Input::default() };
    let mut pieces = vec![0u32; plan.files.len()];
    for piece in plan.splits.iter().flat_map(|s| &s.pieces) {
        pieces[piece.file as usize] += 1;
    }
    for (file, pieces) in plan.files.iter().zip(pieces) {
        if let Some(codec) = file.codec {
            *input.compressed.entry(codec.name().into()).or_insert(0) += 1;
        }
        // The last split of a file may be half as long again and no loss.
        if pieces == 1 && file.len > plan.split_bytes.saturating_mul(3) / 2 {
            input.whole_files += 1;
            input.whole_bytes += file.len;
            if input.longest_whole.as_ref().is_none_or(|longest| file.len > longest.bytes) {
                input.longest_whole = Some(WholeFile {
                    path: file.path.to_string_lossy().into_owned(),
                    bytes: file.len,
                    codec: file.codec.map(|codec| codec.name().into()),
                });
            }
        }
    }
    input
}

/// What `yunti limits` measured on this machine, if it ran.
fn measured_limits(running: &Running<'_>) -> Option<Limits> {
    let path = running.env.cache_dir.as_ref()?.join(limits::FILE_NAME);
    Limits::load(&*running.env.files, &path)
}
