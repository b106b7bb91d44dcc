//! `yunti capacity what-if --prove`: the changes tried on copies of the service.

use std::time::Duration;

use clap::Args;
use rustix::process::geteuid;
use yunti_base::{Cancel, Code, Error, Result};
use yunti_load::guard::End;
use yunti_load::report::Report;
use yunti_load::server::target::Target;
use yunti_model::advice::REQUESTS_MIN;
use yunti_model::curve::{Curve, Options, curve};
use yunti_model::demands::Processors;
use yunti_model::what_if::{Answer, Change, Conversion, Prospect, prospect, what_if};
use yunti_program::terminal::signals::cancel_on_signals;

use super::own_load::{OwnLoad, OwnLoadFlags, SHARE};
use super::process::{ProcessFlags, seconds_up_to};
use crate::measured::{Measured, Measurement, measure};
use crate::prove::original::Original;
use crate::prove::plan::{Plan, Recipe, Wishes};
use crate::prove::proof::{CopyReport, Proof, Source};
use crate::prove::running::Running;
use crate::prove::trial::{self, Round, Trial};

/// Clients of the unchanged copy before a prediction is known.
const THREADS: f64 = 8.0;
/// Processors, or their share, that other programs or a quota take: less makes no difference.
const OTHER_PROCESSORS: f64 = 0.1;
/// Longest load with each number of clients.
const STEP_SECONDS_MAX: f64 = 60.0;

/// Trial of the changes.
#[derive(Debug, Args)]
pub struct ProveFlags {
    /// Try the changes together on copies of the service, on this machine: about two minutes
    ///
    /// Two copies run one after the other, without and with the changes. Their requests are real: copies have the same
    /// files, databases and remote peers as the service, and bind the addresses that the service binds.
    #[arg(long, requires = "load")]
    prove: bool,
    /// Command of the copy with the changes, with {port} for its port; it runs in a shell
    #[arg(long, value_name = "COMMAND", requires = "prove")]
    copy: Option<String>,
    /// Command of the copy without the changes [default: the command of the process]
    #[arg(long, value_name = "COMMAND", requires = "prove")]
    unchanged: Option<String>,
    /// Seconds of load with each number of clients
    #[arg(long, value_name = "N", default_value = "3", value_parser = step, requires = "prove")]
    step_seconds: f64,
    #[command(flatten)]
    own_load: OwnLoadFlags,
}

fn step(text: &str) -> std::result::Result<f64, String> {
    seconds_up_to(STEP_SECONDS_MAX, text)
}

/// Demands with what the model says of them.
pub struct Answers {
    pub now: Prospect,
    pub each: Vec<Answer>,
    curve: Curve,
}

impl Answers {
    /// Returns what changes bring: each one, and then all together.
    pub fn of(measured: &Measured, changes: &[Change], conversions: &[Conversion]) -> Result<Answers> {
        let (demands, options) = (&measured.demands, Options::default());
        let curve = curve(demands, &options)?;
        let now = prospect(demands, &curve, &options)?;
        let all = (changes.len() > 1).then_some(changes);
        let answer = |some: &[Change]| what_if(demands, some, conversions, &now, curve.relative_error, &options);
        let each = changes.chunks(1).chain(all).map(answer).collect::<Result<Vec<Answer>>>()?;
        Ok(Answers { now, each, curve })
    }
}

/// Prepared trial.
pub struct Trials<'a> {
    flags: &'a ProveFlags,
    process: &'a ProcessFlags,
    changes: &'a [Change],
    target: Target,
    cancel: Cancel,
    /// Recipes, known before the measurement if the process is named by its number or not at all.
    plan: Option<Plan>,
}

/// Copy that was tried.
struct Tried {
    addresses: Vec<String>,
    trial: Trial,
    measured: Option<Measured>,
}

impl ProveFlags {
    /// Returns the trial; `None` without `--prove`. An error says that a change cannot be tried.
    pub fn trials<'a>(&'a self, process: &'a ProcessFlags, changes: &'a [Change]) -> Result<Option<Trials<'a>>> {
        let Some(target) = self.own_load.target()? else { return Ok(None) };
        if !self.prove {
            return Err(Error::new(Code::Usage, "--load needs --prove").hint("what-if sends no load without it"));
        }
        let cancel = Cancel::default();
        cancel_on_signals(&cancel);
        // Wrong flags and files of requests are reported before anything starts.
        self.own_load.at_port(&target, target.port, &cancel)?;
        let mut trials = Trials { flags: self, process, changes, target, cancel, plan: None };
        if process.pid().is_some() || !process.is_process() {
            trials.plan = Some(trials.planned(process.pid())?);
        }
        Ok(Some(trials))
    }
}

impl Trials<'_> {
    fn planned(&self, pid: Option<u32>) -> Result<Plan> {
        let original = pid.map(Original::find).transpose()?;
        let (copy, unchanged) = (self.flags.copy.as_deref(), self.flags.unchanged.as_deref());
        let (changes, port) = (self.changes, self.target.port);
        Plan::of(&Wishes { changes, copy, unchanged, port, original: original.as_ref() })
    }

    /// Returns whether the unchanged copy can be measured instead of a service with too little traffic. The service
    /// itself gets no load.
    fn may_measure_copy(&self) -> bool {
        self.plan.is_some() && self.process.is_process()
    }

    /// Measures the process, or reads its demands, and tries the changes.
    pub fn run(mut self, conversions: &[Conversion]) -> Result<(Answers, Proof)> {
        let answered = |measured: &Measured| Answers::of(measured, self.changes, conversions);
        let measured = match self.process.measured() {
            Ok(measured) if !self.may_measure_copy() || measured.demands.requests.count as f64 >= REQUESTS_MIN => {
                Some(measured)
            }
            Ok(_) => None,
            // Without traffic, a JVM has not even loaded the classes of its server.
            Err(error) if self.may_measure_copy() && error.code() == Code::Input && geteuid().is_root() => None,
            Err(error) => return Err(error),
        };
        let mut answers = measured.as_ref().map(answered).transpose()?;
        let plan = match self.plan.take() {
            Some(plan) => plan,
            None => {
                let pid = measured.as_ref().and_then(|measured| u32::try_from(measured.demands.process.pid).ok());
                self.planned(pid)?
            }
        };
        let threads = answers.as_ref().map_or(THREADS, |answers| answers.curve.threads.value);
        let is_needed = answers.is_none();
        let unchanged = self.tried(&plan.unchanged, "unchanged", threads, is_needed)?;
        let measured = unchanged.measured.as_ref().or(measured.as_ref());
        if let (None, Some(measured)) = (&answers, measured) {
            answers = Some(answered(measured)?);
        }
        let answers = answers.ok_or_else(|| Error::new(Code::Internal, "the copy was not measured"))?;
        let all = answers.each.last().ok_or_else(|| Error::new(Code::Internal, "there is no answer"))?;
        let changed = self.tried(&plan.changed, "changed", all.after.threads.value, false)?;
        let report = |tried: &Tried, recipe: &Recipe, prospect: &Prospect| CopyReport {
            processors: recipe.processors.len(),
            addresses: tried.addresses.clone(),
            predicted: prospect.peak,
            trial: tried.trial.clone(),
        };
        let unchanged = report(&unchanged, &plan.unchanged, &all.before);
        let changed = report(&changed, &plan.changed, &all.after);
        let source = if is_needed { Source::Copy } else { Source::Traffic };
        let mut proof = Proof::of(all, plan.by_user, source, unchanged, changed);
        proof.notes.extend(plan.notes);
        if let Some(measured) = measured {
            proof.notes.extend(differences(&measured.demands.processors, proof.unchanged.processors));
        }
        Ok((answers, proof))
    }

    /// Runs a copy, and finds its peak; on request, also its demands at a share of the peak.
    fn tried(&self, recipe: &Recipe, name: &str, threads: f64, is_measured: bool) -> Result<Tried> {
        let of_copy = |error: Error| error.within(&format!("{name} copy"));
        let mut running = Running::start(recipe).map_err(of_copy)?;
        let addresses = running.listens(&self.cancel).map_err(of_copy)?;
        let load = self.flags.own_load.at_port(&self.target, running.port, &self.cancel)?;
        let step = Duration::from_secs_f64(self.flags.step_seconds);
        let trial = trial::measure(&mut |clients, time| round(&load, &mut running, clients, time), threads, step);
        let trial = trial.map_err(of_copy)?;
        let mut measured = None;
        if is_measured {
            let seconds = self.process.seconds();
            let under_way = load.begin(trial.peak.value * SHARE, seconds);
            let (pid, method) = (running.pid(), self.process.method());
            measured = Some(measure(&Measurement { pid, name: None, seconds, method, held: None }).map_err(of_copy)?);
            under_way.end()?;
        }
        let mut addresses: Vec<String> = addresses.iter().map(ToString::to_string).collect();
        addresses.sort();
        addresses.dedup();
        Ok(Tried { addresses, trial, measured })
    }
}

/// Returns notes on processors that a copy has and the service had not, or the other way round.
fn differences(processors: &Processors, has: usize) -> Vec<String> {
    let mut notes = Vec::new();
    let (count, others) = (processors.count, processors.used_by_others);
    if (count - has as f64).abs() > OTHER_PROCESSORS {
        notes.push(format!("The service had {count:.1} processors, by a quota or another machine; a copy has {has}."));
    }
    if others > OTHER_PROCESSORS * count {
        notes.push(format!(
            "Other programs used {others:.1} processors during the measurement, which the prediction leaves to them."
        ));
    }
    notes
}

/// Sends a closed loop to a copy.
fn round(load: &OwnLoad, running: &mut Running, clients: usize, time: Duration) -> Result<Round> {
    let result = load.closed(clients, time);
    // A copy that has ended says why, which is worth more than a refused connection.
    running.check()?;
    let report = result?;
    if report.end == End::Cancelled {
        return Err(Error::new(Code::Cancelled, "the trial was cancelled"));
    }
    let failure = || report.examples.first().map_or("no answer in time", |example| example.text.as_str()).to_owned();
    let has_suffered = report.end != End::Complete || report.done == 0;
    Ok(Round {
        per_second: report.done_per_second,
        mean_ms: report.service.mean_ms,
        errors: report.errors,
        seconds: full_seconds(&report),
        suffered: has_suffered.then(failure),
    })
}

/// Returns the answers of each full second.
fn full_seconds(report: &Report) -> Vec<f64> {
    let full = |at: u64| (at + 1) as f64 <= report.seconds + 1e-6;
    report.series.iter().filter(|second| full(second.at_s)).map(|second| second.done as f64).collect()
}
