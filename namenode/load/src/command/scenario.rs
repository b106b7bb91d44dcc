//! Loads that are asked for by a name: so many machines, step by step.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use clap::ValueEnum;
use serde_json::{Value, json};
use yunti_base::{Code, Error, Result};
use yunti_program::failure::{Failure, Outcome};
use yunti_program::terminal::stdout;

use super::load::{self, LoadFlags};
use crate::load::driver::{Outcome as Loaded, Progress};
use crate::load::mix::Mix;

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Scenario {
    /// The cluster of 2012: 3,200 DataNodes, 15,000 operations and heartbeats a second; an eighth of it first, then double, and double again
    Yunti,
}

const MACHINES: u32 = 3200;
const CALLS_PER_SECOND: f64 = 15_000.0;
const HEARTBEATS_PER_SECOND: f64 = 1.0 / 3.0;
const CONNECTIONS: u32 = 300;
/// Jobs look for files, read them, and leave new ones.
const MIX: &str = "getFileInfo=60,getBlockLocations=20,getListing=2,mkdirs=2,create=6,rename=4,delete=6";
/// For the NameNode's own figures, which it makes each ten seconds.
const SECONDS: f64 = 25.0;
/// Below this share of what was asked for, it does not keep up; nor with more than a second's worth that waits at the end.
const KEEPS_UP: f64 = 0.97;

struct Step {
    machines: u32,
    asked: f64,
    loaded: Loaded,
}

pub fn run(flags: &LoadFlags) -> Outcome {
    let progress = Arc::new(Progress::default());
    load::stop_on_signals(&progress);
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
    let asked = CALLS_PER_SECOND * f64::from(machines) / f64::from(MACHINES);
    let mut of_step = flags.clone();
    of_step.mix = Mix::parse(MIX).map_err(|e| Error::new(Code::Internal, e))?;
    // Of three calls each in the mean, a create counts as such.
    let calls_an_operation = 1.0 + 2.0 * 0.06;
    of_step.rate = Some((asked - f64::from(machines) * HEARTBEATS_PER_SECOND) / calls_an_operation);
    of_step.datanodes = machines;
    of_step.connections = CONNECTIONS;
    of_step.seconds = flags.seconds.max(std::time::Duration::from_secs_f64(SECONDS));
    load::run(&of_step, progress).map(|run| Step { machines, asked, loaded: run.loaded })
}

const HEADS: [&str; 8] =
    ["machines", "asked /s", "answered /s", "keeps up", "queue ms", "lock ms", "processing ms", "CPU us"];

fn head() -> String {
    format!("{}\n", HEADS.map(|head| format!("{head:>14}")).concat())
}

impl Step {
    fn answered(&self) -> f64 {
        self.loaded.latencies.calls() as f64 / self.loaded.seconds.max(1e-9)
    }

    fn keeps_up(&self) -> bool {
        self.answered() >= KEEPS_UP * self.asked && (self.loaded.unanswered as f64) < self.asked
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
            format!("{:.0}", self.asked),
            format!("{:.0}", self.answered()),
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
            "asked_per_second": self.asked,
            "calls_per_second": self.answered(),
            "keeps_up": self.keeps_up(),
            "failed": self.loaded.latencies.failures(),
            "unanswered": self.loaded.unanswered,
            "by_call": self.loaded.latencies.to_json(self.loaded.seconds),
            "namenode_rpc": self.loaded.figures.as_ref().ok().map(|figures| figures.to_json()),
            "namenode_cpu_us_per_call": self.cpu_us(),
        })
    }
}
