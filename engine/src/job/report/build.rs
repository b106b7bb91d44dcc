//! The report of a finished job, built from its meters.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::bottleneck::{self, ResourceTimes};
use super::limits::{self, Limits};
use super::processors::{self, ProcessorCounters, WorkerTime};
use super::{FileUse, Input, JobInfo, Memory, REPORT_FORMAT, Report, Stage, Waits, WholeFile, advice};
use crate::codec::CodecKind;
use crate::env::metered::Place;
use crate::env::{Env, MeteredFiles, MeteredThreads, StorageKind};
use crate::job::machine;
use crate::job::phase::map_setup::TASK_COUNTERS;
use crate::job::phase::running_job::RunningJob;
use crate::job::plan::{Plan, parts};
use crate::job::spec::{JobSpec, Mode, OutputFormat, OutputTarget, Partitioning};
use crate::read::split::RecordFormat;

/// Watch over the resources of a job: the use of the process before it began, and meters for its files and threads.
pub struct ResourceWatch {
    env: Env,
    files: Arc<MeteredFiles>,
    threads: Arc<MeteredThreads>,
    unix_ms: u64,
    cpu_ns: u64,
    disk: (u64, u64),
    quota: Option<machine::CpuQuota>,
    processors: ProcessorCounters,
}

impl ResourceWatch {
    /// Begins to meter a job. `env`: its environment without meters.
    pub fn begin(env: &Env) -> ResourceWatch {
        let files = Arc::new(MeteredFiles::new(env.files.clone(), env.clock.clone()));
        let threads = Arc::new(MeteredThreads::new(env.threads.clone(), env.system.clone()));
        ResourceWatch {
            env: Env { files: files.clone(), threads: threads.clone(), ..env.clone() },
            files,
            threads,
            unix_ms: env.clock.unix_ms(),
            cpu_ns: env.clock.cpu_ns(),
            disk: machine::disk_bytes(&*env.system),
            quota: machine::cpu_quota(&*env.system),
            processors: machine::processor_counters(&*env.system),
        }
    }

    /// Returns the environment with meters, for the job to use.
    pub fn env(&self) -> &Env {
        &self.env
    }

    fn waits(&self, time: WorkerTime) -> Waits {
        let system = &*self.env.system;
        let disk = machine::disk_bytes(system);
        let quota = machine::cpu_quota(system);
        let of = |of: fn(machine::CpuQuota) -> u64| quota.map_or(0, of).saturating_sub(self.quota.map_or(0, of));
        let processors = machine::processor_counters(system).since(&self.processors);
        let counted_ms = self.threads.run_delay_ns().map(|ns| ns as f64 / 1e6);
        Waits {
            processor_ms: processors::wait_ms(counted_ms, &processors, time),
            others_ms: processors.others_ms(time.cpu_ms),
            pressure_ms: processors.pressure_ms,
            quota_processors: quota.map(|q| q.processors),
            quota_periods: of(|q| q.periods),
            throttled_periods: of(|q| q.throttled),
            disk_read_bytes: disk.0.saturating_sub(self.disk.0),
            disk_written_bytes: disk.1.saturating_sub(self.disk.1),
        }
    }
}

/// Builds the report of a job. `before`: the watch that began with the job. `output_bytes`: bytes of all its outputs.
pub fn build_report(running: &RunningJob<'_>, before: &ResourceWatch, output_bytes: u64) -> Report {
    let spec = running.spec;
    let cpu_ns = running.env.clock.cpu_ns();
    let wall_ms = (running.env.clock.now_ns() - running.meter.start_ns()) as f64 / 1e6;
    let output_records = running.totals.records.load(Ordering::Relaxed);
    let output_counter = if spec.mode == Mode::None { "MAP_OUTPUT_RECORDS" } else { "REDUCE_OUTPUT_RECORDS" };
    running.settle(None);
    running.count(TASK_COUNTERS, output_counter, output_records);
    let mut counters = std::collections::BTreeMap::new();
    for ((group, name), n) in running.counters.lock().unwrap_or_else(|e| e.into_inner()).iter() {
        counters.entry(group.clone()).or_insert_with(std::collections::BTreeMap::new).insert(name.clone(), *n);
    }
    let input_records = counters.get(TASK_COUNTERS).and_then(|g| g.get("MAP_INPUT_RECORDS")).copied().unwrap_or(0);
    let (groups, largest_record) = {
        let workload_stats = running.workload_stats();
        (workload_stats.groups(), workload_stats.largest_record.clone())
    };
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
            output_by: output_by(spec),
            classes: classes(spec, running.plan),
        },
        machine: machine::describe(&*running.env.system, running.env.threads.processors()),
        input: Some(Input { largest_record, ..input(running.spec, running.plan) }),
        stages: running.meter.stages(),
        workers: running.meter.workers(),
        tasks: Vec::new(),
        memory: Memory {
            budget_bytes: running.budget.limit_bytes(),
            peak_bytes: running.budget.peak_bytes(),
            peak_resident_bytes: machine::peak_resident_bytes(&*running.env.system),
            samples: running.memory.samples(),
            limits: running.elastic.changes(),
        },
        resumed: running.kept.resumed(),
        spill: running.spill.lock().unwrap_or_else(|e| e.into_inner()).clone(),
        partitions: running
            .partitions
            .summary(if spec.mode == Mode::None { "split" } else { "partition" }, &running.totals),
        files: files(running, before),
        stores: running.env.files.traffic(),
        groups,
        join_table: running.join_table.clone(),
        join_choice: running.join_choice.clone(),
        counters,
        ..Report::default()
    };
    add_encode_stage(&mut report.stages, running.totals.encode_ns.load(Ordering::Relaxed) as f64 / 1e6, output_bytes);
    set_write_bytes(&mut report.stages, running.totals.bytes.load(Ordering::Relaxed));
    set_storage(&mut report.stages, &report.files);
    let limits = measured_limits(running);
    if let Some(limits) = &limits {
        for stage in &mut report.stages {
            stage.limit_mb_per_s = limits.of_resource(&stage.resource);
        }
    }
    let busy_ms = report.workers.iter().map(|w| w.busy_ms).sum();
    let waits = before.waits(WorkerTime { busy_ms, cpu_ms: report.job.cpu_ms, workers: report.job.threads });
    report.waits = Some(waits);
    let file_ms = |kind: StorageKind, of: fn(&FileUse) -> f64| -> f64 {
        report.files.iter().filter(|f| storage_kind(f) == kind).map(of).sum()
    };
    let times = ResourceTimes {
        cpu_ms: report.job.cpu_ms,
        cpu_wait_ms: waits.processor_ms,
        taken_ms: processors::taken_ms(&waits, report.job.threads, report.machine.processors, wall_ms),
        file_read_ms: file_ms(StorageKind::Disk, |f| f.read_ms),
        file_write_ms: file_ms(StorageKind::Disk, |f| f.write_ms),
        memory_files_ms: file_ms(StorageKind::Memory, |f| f.read_ms + f.write_ms),
        network_files_ms: file_ms(StorageKind::Network, |f| f.read_ms + f.write_ms),
        memory_mb_per_s: limits.and_then(|l| l.of_resource("memory")),
        ..ResourceTimes::default()
    };
    report.bottleneck = bottleneck::find(&report, &times);
    report.advice = advice::give(&report);
    report
}

/// Moves the time of compressing or of a writer class, metered within another stage, to a stage of its own.
fn add_encode_stage(stages: &mut Vec<Stage>, ms: f64, output_bytes: u64) {
    if ms <= 0.0 {
        return;
    }
    let mut left = ms;
    for name in ["reduce", "merge"] {
        if let Some(stage) = stages.iter_mut().find(|s| s.name == name) {
            let part = left.min(stage.busy_ms);
            stage.busy_ms -= part;
            left -= part;
            stage.mb_per_s = if stage.busy_ms > 0.0 { stage.bytes as f64 / 1e3 / stage.busy_ms } else { 0.0 };
        }
    }
    let at = stages.iter().position(|s| s.name == "write").unwrap_or(stages.len());
    let stage = Stage {
        name: "encode".into(),
        bytes: output_bytes,
        busy_ms: ms,
        mb_per_s: output_bytes as f64 / 1e3 / ms,
        resource: "cpu".into(),
        ..Stage::default()
    };
    stages.insert(at, stage);
}

/// Returns the use of files by place, and the free space where the job wrote.
fn files(running: &RunningJob<'_>, watch: &ResourceWatch) -> Vec<FileUse> {
    let output = match &running.spec.output {
        OutputTarget::Directory(path) => Some(path.clone()),
        _ => None,
    };
    let first = running.plan.files.first().filter(|f| !f.is_stream);
    let input = first.and_then(|f| f.path.parent()).map(Path::to_path_buf);
    let ms = |ns: u64| ns as f64 / 1e6;
    let rows = watch.files.totals().into_iter().map(|(place, totals)| {
        let (name, directory) = match place {
            Place::Input => ("input", input.clone()),
            Place::Output => ("output", output.clone()),
            Place::Scratch(dir) => ("scratch", Some(dir)),
        };
        let wrote = directory.as_deref().filter(|_| totals.written_bytes > 0);
        let storage = directory.as_deref().and_then(|dir| running.env.files.storage(dir));
        FileUse {
            storage: storage.as_ref().map(|s| s.kind.name().into()),
            file_system: storage.as_ref().map(|s| s.file_system.clone()),
            device: storage.and_then(|s| s.device),
            place: name.into(),
            free_bytes: wrote.and_then(|dir| free_bytes(running.env, dir)),
            directory: directory.map(|d| d.to_string_lossy().into_owned()).filter(|d| !d.is_empty()),
            opened: totals.opened,
            open_ms: ms(totals.open_ns),
            read_bytes: totals.read_bytes,
            read_ms: ms(totals.read_ns),
            reads: totals.reads,
            written_bytes: totals.written_bytes,
            write_ms: ms(totals.write_ns),
            writes: totals.writes,
        }
    });
    rows.collect()
}

fn storage_kind(files: &FileUse) -> StorageKind {
    let kinds = [StorageKind::Memory, StorageKind::Network];
    kinds.into_iter().find(|kind| files.storage.as_deref() == Some(kind.name())).unwrap_or(StorageKind::Disk)
}

/// Sets the resource of stages whose files are not on a disk. Several scratch directories: that with the most time.
fn set_storage(stages: &mut [Stage], files: &[FileUse]) {
    for stage in stages.iter_mut().filter(|s| matches!(&*s.resource, "disk_read" | "disk_write")) {
        let place = match &*stage.name {
            "read" => "input",
            "write" => "output",
            _ => "scratch",
        };
        let time_ms = |f: &&FileUse| f.read_ms + f.write_ms;
        let of_place = files.iter().filter(|f| f.place == place);
        match of_place.max_by(|a, b| time_ms(a).total_cmp(&time_ms(b))).map(storage_kind) {
            Some(StorageKind::Memory) => stage.resource = "memory".into(),
            Some(StorageKind::Network) => stage.resource = "network".into(),
            Some(StorageKind::Disk) | None => {}
        }
    }
}

/// Returns the free bytes at the directory or, if it does not exist yet, at its nearest parent.
fn free_bytes(env: &Env, dir: &Path) -> Option<u64> {
    let mut dir: PathBuf = dir.into();
    loop {
        if let Ok(free) = env.files.free_bytes(if dir.as_os_str().is_empty() { Path::new(".") } else { &dir }) {
            return Some(free);
        }
        if dir.as_os_str().is_empty() || !dir.pop() {
            return None;
        }
    }
}

fn output_by(spec: &JobSpec) -> Option<String> {
    if let Some(compression) = spec.compress {
        let level = compression.level.map_or(String::new(), |level| format!(":{level}"));
        return Some(format!("{}{level}", compression.target.name()));
    }
    match &spec.output_format {
        OutputFormat::Class(name) => Some(name.clone()),
        _ => None,
    }
}

/// Sets the bytes of a write stage that merged tables: only the output shows them.
fn set_write_bytes(stages: &mut [Stage], output_bytes: u64) {
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
        ("writer", &plan.writer),
    ];
    let own = classes.into_iter().filter_map(|(role, class)| Some((role.into(), class.as_ref()?.info().name.clone())));
    let order =
        matches!(spec.partitioning, Partitioning::TotalOrder).then(|| ("partitioner".into(), "total-order".into()));
    let mappers: Vec<&str> =
        plan.sources.iter().filter_map(|s| s.mapper.as_ref()).map(|m| m.info().name.as_str()).collect();
    let mapper = (!mappers.is_empty()).then(|| ("mapper".into(), mappers.join(", ")));
    own.chain(order).chain(mapper).collect()
}

fn input(spec: &JobSpec, plan: &Plan) -> Input {
    let mut input = Input { files: plan.files.len() as u64, split_bytes: plan.split_bytes, ..Input::default() };
    if plan.sources.iter().any(|source| matches!(source.format, RecordFormat::Source(_))) {
        input.file_bytes = Some(plan.files.iter().map(|file| file.len).sum());
    }
    // Number of pieces and source of each file.
    let mut pieces = vec![(0u32, 0); plan.files.len()];
    for (split, piece) in plan.splits.iter().flat_map(|s| s.pieces.iter().map(move |piece| (s, piece))) {
        let (n, source) = &mut pieces[piece.file as usize];
        (*n, *source) = (*n + 1, split.source);
    }
    for (file, (pieces, source)) in plan.files.iter().zip(pieces) {
        let is_bzip2 = file.codec == Some(CodecKind::Bzip2);
        let split_bytes = match file.codec {
            Some(_) if !is_bzip2 => parts::target_bytes(spec, plan.split_bytes),
            _ => plan.split_bytes,
        };
        if let Some(codec) = file.codec {
            *input.compressed.entry(codec.name().into()).or_insert(0) += 1;
        }
        // The last split of a file may be half as long again without harm.
        if pieces == 1 && file.len > split_bytes.saturating_mul(3) / 2 {
            input.whole_files += 1;
            input.whole_bytes += file.len;
            if input.longest_whole.as_ref().is_none_or(|longest| file.len > longest.bytes) {
                input.longest_whole = Some(WholeFile {
                    path: file.path.to_string_lossy().into_owned(),
                    bytes: file.len,
                    codec: file.codec.map(|codec| codec.name().into()),
                    reason: file.codec.map_or_else(String::new, |_| {
                        parts::reason_for_none(file, &plan.sources[source].format, plan.cuts_parts).into()
                    }),
                });
            }
        }
    }
    input
}

/// Returns what `yunti machine limits` measured on this machine, if it ran.
fn measured_limits(running: &RunningJob<'_>) -> Option<Limits> {
    let path = running.env.cache_dir.as_ref()?.join(limits::FILE_NAME);
    Limits::load(&*running.env.files, &path)
}
