//! `yunti observe demands`: what a request needs of each resource, as a document for `yunti capacity`.

use std::time::Duration;

use clap::Args;
use yunti_base::{Code, Error};
use yunti_program::failure::Outcome;
use yunti_program::terminal::stdout;

use super::document::document;
use super::held;
use super::measure::baseline::Baseline;
use super::measure::candidates::Candidates;
use super::measure::entry::Entry;
use super::measure::{measure_jvm, measure_other};
use crate::jvm;
use yunti_probe::answer::{Answer, or_skip};
use yunti_probe::options::{OutputFlags, TargetFlags, seconds};
use yunti_probe::stopping::Stopping;
use yunti_probe::target::Start;

/// Time in which nothing but processor time and connections is measured.
const BASELINE: Duration = Duration::from_secs(4);
/// Time for which a heap dump may stop the JVM.
const PAUSE_MAX: Duration = Duration::from_secs(5);
/// Time in which the classes whose monitors requests enter are found.
const CANDIDATES: Duration = Duration::from_secs(4);

/// Measure what a request needs of processors, locks, pools, remotes: a document for `yunti capacity`
#[derive(Debug, Args)]
pub struct DemandsFlags {
    #[command(flatten)]
    target: TargetFlags,
    #[command(flatten)]
    pub output: OutputFlags,
    /// Define a request as a call of this Java method; by default, an HTTP request of the server in the JVM
    #[arg(short, long, value_name = "Class.method")]
    method: Option<String>,
    /// JVM: also take a heap dump, which stops the JVM: what requests hold over their remote calls
    #[arg(long)]
    held: bool,
    /// JVM: take the heap dump only if it is expected to stop the JVM for no more than this; 5 without this
    #[arg(long, value_name = "SECONDS", value_parser = seconds, requires = "held")]
    pause_max: Option<Duration>,
}

/// Runs the command.
pub fn demands(flags: &DemandsFlags) -> Outcome {
    let mut stopping = Stopping::new()?;
    let target = flags.target.find(Start::Running)?;
    let process = &target.process;
    let mut answer = Answer::new("demands", process);
    let seconds = flags.output.seconds;
    let is_jvm = jvm::recognise(&target)?;
    if !is_jvm && (flags.method.is_some() || flags.held) {
        let (flag, why) = if flags.held { ("--held", "heap dump") } else { ("--method", "Java methods") };
        let error = Error::new(Code::Usage, format!("process {} is not a JVM, so it has no {why}", process.pid));
        return Err(error.hint(format!("leave out {flag}: requests are found by the connections")).into());
    }
    let entry = if is_jvm { Some(Entry::of(flags.method.as_deref(), process)?) } else { None };
    // First, while the JVM's methods are as they are without a measurement.
    let held = match &entry {
        Some(entry) if flags.held => {
            let pause_max = flags.pause_max.unwrap_or(PAUSE_MAX);
            Some(held::measure(process, &entry.around, pause_max, &mut stopping)?)
        }
        _ => None,
    };
    let baseline = Baseline::measure(process, BASELINE, &mut stopping);
    let baseline = or_skip(&mut answer.skips, "processor time without the measurement", baseline).unwrap_or_default();
    let (mut evidence, _) = if let Some(entry) = entry {
        let candidates = Candidates::sample(process, &entry.around, CANDIDATES, &mut stopping)?;
        measure_jvm(process, &entry, candidates, seconds, &mut stopping, &mut answer)?
    } else {
        measure_other(process, seconds, &mut stopping, &mut answer)?
    };
    let mut answered = document(&mut evidence, process, baseline);
    if let Some(held) = held {
        answered["held"] = held;
    }
    answered["skips"] = answer.skips.clone().into();
    stdout::print(&format!("{answered}\n"))
}
