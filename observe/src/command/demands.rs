//! `yunti observe demands`: what a request needs of each resource, as a document for `yunti capacity`.

use std::time::Duration;

use clap::Args;
use yunti_base::{Code, Error};
use yunti_program::failure::Outcome;
use yunti_program::terminal::stdout;

use super::slow::servers;
use crate::{demands, jvm};
use yunti_probe::answer::Answer;
use yunti_probe::options::{OutputFlags, TargetFlags};
use yunti_probe::stopping::Stopping;
use yunti_probe::target::Start;

/// Time in which the classes at which requests wait are found.
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
}

/// Runs the command.
pub fn demands(flags: &DemandsFlags) -> Outcome {
    let mut stopping = Stopping::new()?;
    let target = flags.target.find(Start::Running)?;
    let process = &target.process;
    if !jvm::recognise(&target)? {
        return Err(Error::new(Code::Input, format!("process {} is not a JVM", process.pid)).into());
    }
    let method = match &flags.method {
        Some(method) => method.clone(),
        None => match servers::server(&jvm::loaded_classes(process)?) {
            Some((_, method)) => method,
            None => {
                let text = format!("process {} has none of these HTTP servers: {}", process.pid, servers::known());
                return Err(Error::new(Code::Input, text).hint("name the method of a request: --method").into());
            }
        },
    };
    let mut answer = Answer::new("demands", process);
    let candidates = demands::Candidates::sample(process, &method, CANDIDATES, &mut stopping)?;
    let (evidence, _) =
        demands::measure(process, &method, candidates, flags.output.seconds, &mut stopping, &mut answer)?;
    let mut document = demands::document(&evidence, process);
    document["skips"] = answer.skips.clone().into();
    stdout::print(&format!("{document}\n"))
}
