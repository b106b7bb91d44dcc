//! `yunti nn load --scenario`: a named load, step by step with more machines.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use serde_json::{Value, json};
use yunti_base::{Code, Error, Result};
use yunti_program::failure::{Failure, Outcome};
use yunti_program::terminal::stdout;

use super::load;
use super::load_flags::LoadFlags;
use crate::load::driver::{Outcome as LoadOutcome, Progress};
use crate::load::mix::Mix;

const MACHINES: u32 = 3200;
const CALLS_PER_SECOND: f64 = 15_000.0;
/// Heartbeats per second of one DataNode.
const HEARTBEATS_PER_SECOND: f64 = 1.0 / 3.0;
const CONNECTIONS: u32 = 300;
/// Mix of jobs that find files, read them and write new ones.
const MIX: &str = "getFileInfo=60,getBlockLocations=20,getListing=2,mkdirs=2,create=6,rename=4,delete=6";
/// Seconds of a step, at least: the NameNode updates its metrics every ten seconds.
const SECONDS: f64 = 25.0;
/// Share of the target rate at which a NameNode keeps up, if less than a second's worth of calls is left at the end.
const KEEPS_UP: f64 = 0.97;

/// One step and its outcome; `target` in calls a second.
struct Step {
    machines: u32,
    target: f64,
    loaded: LoadOutcome,
}

/// Runs all steps, and prints a row after each.
pub fn run(flags: &LoadFlags) -> Outcome {
    let progress = Arc::new(Progress::default());
    load::stop_on_signals(progress.clone(), |progress| &progress.stop);
    let most = if flags.datanodes > 0 { flags.datanodes } else { MACHINES };
    let mut steps: Vec<Step> = Vec::new();
    if !flags.json {
        stdout::print(&head())?;
    }
    for machines in [most / 8, most / 4, most / 2, most] {
        let step = step(flags, machines.max(1), &progress)?;
        if !flags.json {
            stdout::print(&step.to_text())?;
        }
        steps.push(step);
        if progress.stop.load(Relaxed) {
            return Err(Failure::Reported(Code::Cancelled));
        }
    }
    if flags.json {
        let steps: Vec<Value> = steps.iter().map(Step::to_json).collect();
        stdout::print_json(&json!({ "scenario": "yunti", "namenode": flags.namenode, "mix": MIX, "steps": steps }))?;
    }
    Ok(())
}

fn step(flags: &LoadFlags, machines: u32, progress: &Arc<Progress>) -> Result<Step> {
    let target = CALLS_PER_SECOND * f64::from(machines) / f64::from(MACHINES);
    let mut of_step = flags.clone();
    of_step.mix = Mix::parse(MIX).map_err(|e| Error::new(Code::Internal, e))?;
    // A create is three calls, and 6 % of the operations.
    let calls_an_operation = 1.0 + 2.0 * 0.06;
    of_step.rate = Some((target - f64::from(machines) * HEARTBEATS_PER_SECOND) / calls_an_operation);
    of_step.datanodes = machines;
    of_step.connections = CONNECTIONS;
    of_step.seconds = Some(flags.seconds.unwrap_or_default().max(std::time::Duration::from_secs_f64(SECONDS)));
    load::run(&of_step, progress).map(|run| Step { machines, target, loaded: run.loaded })
}

const HEADS: [&str; 8] =
    ["machines", "target /s", "actual /s", "keeps up", "queue ms", "lock ms", "processing ms", "CPU us"];

fn head() -> String {
    format!("{}\n", HEADS.map(|head| format!("{head:>14}")).concat())
}

impl Step {
    fn actual(&self) -> f64 {
        self.loaded.latencies.calls() as f64 / self.loaded.seconds.max(1e-9)
    }

    fn keeps_up(&self) -> bool {
        self.actual() >= KEEPS_UP * self.target && (self.loaded.unanswered as f64) < self.target
    }

    fn mean(&self, name: &str) -> Option<f64> {
        self.loaded.figures.as_ref().ok()?.means().find(|(known, _)| *known == name).map(|(_, ms)| ms)
    }

    fn cpu_us(&self) -> Option<f64> {
        let calls = self.loaded.latencies.calls().max(1) as f64;
        self.loaded.used.map(|used| used.cpu_seconds * 1e6 / calls)
    }

    fn to_text(&self) -> String {
        let or_none = |figure: Option<f64>| figure.map_or("-".to_owned(), |figure| format!("{figure:.2}"));
        let cells = [
            self.machines.to_string(),
            format!("{:.0}", self.target),
            format!("{:.0}", self.actual()),
            if self.keeps_up() { "yes" } else { "no" }.to_owned(),
            or_none(self.mean("queue")),
            or_none(self.mean("lock_wait")),
            or_none(self.mean("processing")),
            or_none(self.cpu_us()),
        ];
        format!("{}\n", cells.map(|cell| format!("{cell:>14}")).concat())
    }

    fn to_json(&self) -> Value {
        json!({
            "machines": self.machines,
            "target_per_second": self.target,
            "calls_per_second": self.actual(),
            "keeps_up": self.keeps_up(),
            "failed": self.loaded.latencies.failures(),
            "unanswered": self.loaded.unanswered,
            "by_call": self.loaded.latencies.to_json(self.loaded.seconds),
            "namenode_rpc": self.loaded.figures.as_ref().ok().map(|figures| figures.to_json()),
            "namenode_cpu_us_per_call": self.cpu_us(),
        })
    }
}
