//! Running a job: plan, map, sort or fold, reduce, commit, report.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::commit::Pending;
use super::control::{Control, StageNow};
use super::map_only;
use super::meter::Meter;
use super::plan::Plan;
use super::report::Report;
use super::reporting;
use super::sizing::Sizing;
use super::sorted;
use super::spec::{JobSpec, Mode, OutputTarget};
use crate::base::{Code, Error, Result};
use crate::env::{Crew, Env, NamedFile};
use crate::memory::Budget;
use crate::operator::ClassSource;
use crate::operator::context::{CounterTable, Settings};
use crate::write::output::OutputTotals;
use crate::write::top::Top;
use crate::write::{Output, PartFile};
use std::sync::Mutex;

pub struct Outcome {
    pub report: Report,
    /// For `OutputTarget::Top`: printable keys and values, best first.
    pub top: Vec<(String, String)>,
}

/// What all stages of a running job share.
pub struct Running<'a> {
    pub spec: &'a JobSpec,
    pub plan: &'a Plan,
    pub env: &'a Env,
    pub control: &'a Control,
    pub crew: Crew<'a>,
    pub budget: Arc<Budget>,
    pub sizing: Sizing,
    pub meter: Meter,
    pub totals: OutputTotals,
    pub counters: Mutex<CounterTable>,
    pub settings: Arc<Settings>,
    pub scratch_dirs: Vec<PathBuf>,
    pub spill: Mutex<super::report::Spill>,
}

impl Running<'_> {
    pub fn count(&self, group: &str, name: &str, by: u64) {
        let mut counters = self.counters.lock().unwrap_or_else(|e| e.into_inner());
        *counters.entry((group.into(), name.into())).or_insert(0) += by;
    }

    /// Takes over what a finished task counted.
    pub fn absorb(&self, context: &crate::operator::TaskContext) {
        let own = std::mem::take(&mut *context.counters.lock().unwrap_or_else(|e| e.into_inner()));
        if !own.is_empty() {
            let mut counters = self.counters.lock().unwrap_or_else(|e| e.into_inner());
            for (name, n) in own {
                *counters.entry(name).or_insert(0) += n;
            }
        }
        if let Some(status) = context.status.lock().unwrap_or_else(|e| e.into_inner()).take() {
            self.control.set_status(Some(status));
        }
    }

    /// The next number for sampling: the same in every run.
    pub fn seed(&self) -> u64 {
        self.env.seed
    }
}

/// Runs a job to its end. On an error nothing of the output is left.
pub fn run(spec: &JobSpec, env: &Env, classes: &[Arc<dyn ClassSource>], control: &Control) -> Result<Outcome> {
    spec.check()?;
    control.enter(StageNow::Start);
    let before = reporting::Before::now(env);
    let mut pending = match &spec.output {
        OutputTarget::Directory(path) => Some(Pending::begin(env.files.clone(), path, spec.overwrite)?),
        _ => None,
    };
    let plan = Plan::make(spec, env, classes)?;
    let limit = spec.memory_bytes.unwrap_or_else(super::machine::default_budget_bytes);
    let threads = spec.threads.unwrap_or_else(|| env.threads.processors());
    let sizing = Sizing::make(limit, threads, plan.splits.len())?;
    let running = Running {
        spec,
        plan: &plan,
        env,
        control,
        crew: Crew { threads: &*env.threads, workers: sizing.workers, cancel: control.cancelled() },
        budget: Budget::new(limit),
        meter: Meter::new(sizing.workers, &*env.clock),
        sizing,
        totals: OutputTotals::default(),
        counters: Mutex::default(),
        settings: Arc::new(spec.settings.clone()),
        scratch_dirs: if spec.scratch_dirs.is_empty() { vec![env.temp_dir.clone()] } else { spec.scratch_dirs.clone() },
        spill: Mutex::default(),
    };
    // Map and reduce read and write the data about once each: progress counts both.
    control.expect(plan.input_bytes * 2);
    let output = open_output(&running, pending.as_ref())?;
    match spec.mode {
        Mode::None => map_only::run(&running, &output)?,
        _ => sorted::run(&running, &output)?,
    }

    control.enter(StageNow::Commit);
    let (output_bytes, top) = close_output(output, spec.durable)?;
    let mut report = reporting::make(&running, &before, output_bytes);
    if let Some(pending) = pending.take() {
        // Readers of Hadoop's outputs pass over names with `_`.
        pending.create_dir("_yunti")?;
        let success = pending.create("_SUCCESS")?;
        if spec.durable {
            success.sync()?;
        }
        let text = serde_json::to_vec_pretty(&report)
            .map_err(|e| Error::new(Code::Internal, format!("cannot write the report: {e}")))?;
        let file = pending.create("_yunti/report.json")?;
        file.write_all(&text, 0)?;
        if spec.durable {
            file.sync()?;
        }
        control.cancelled().check()?;
        pending.commit(spec.durable)?;
    }
    report.job.wall_ms = (env.clock.now_ns() - running.meter.start_ns()) as f64 / 1e6;
    Ok(Outcome { report, top })
}

fn open_output(running: &Running<'_>, pending: Option<&Pending>) -> Result<Output> {
    let plan = running.plan;
    match (&running.spec.output, pending) {
        (OutputTarget::Directory(_), Some(pending)) => {
            let (letter, parts) = match running.spec.mode {
                Mode::None => ('m', plan.splits.len()),
                _ => ('r', plan.partitions as usize),
            };
            // Sorted records take about what they took in the input.
            let identity = plan.reducer.is_none() && plan.folder.is_none() && plan.mapper.is_none();
            let compressed = plan.files.iter().any(|f| f.codec.is_some() || f.is_stream);
            let expected = if identity && parts == 1 && !compressed { plan.input_bytes } else { 0 };
            let parts = (0..parts)
                .map(|i| PartFile::new(pending.create(&format!("part-{letter}-{i:05}"))?, false, expected))
                .collect::<Result<Vec<_>>>()?;
            Ok(Output::Parts(parts))
        }
        (OutputTarget::Top(n), _) => Ok(Output::Top(Top::new(*n, plan.output_types.0, plan.output_types.1))),
        _ => {
            let file = NamedFile::new(running.env.files.stdout(), Path::new("standard output"), Code::Output);
            Ok(Output::Stream(PartFile::new(file, true, 0)?))
        }
    }
}

fn close_output(output: Output, durable: bool) -> Result<(u64, Vec<(String, String)>)> {
    match output {
        Output::Parts(parts) => {
            let mut bytes = 0;
            for part in parts {
                bytes += part.close(durable)?;
            }
            Ok((bytes, Vec::new()))
        }
        Output::Stream(file) => Ok((file.close(durable)?, Vec::new())),
        Output::Top(top) => Ok((0, top.into_printable())),
    }
}

/// Tells the progress how much output there is.
pub fn show_output(running: &Running<'_>) {
    running.control.output_bytes.store(running.totals.bytes.load(Ordering::Relaxed), Ordering::Relaxed);
}
