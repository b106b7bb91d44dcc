//! `yunti observe slow`: what slow requests did that fast ones did not.
//!
//! ```text
//!   servers.rs      which method of a JVM is an HTTP request
//!   class_names.rs  which class is meant
//!   look.rs         requests, stacks, waits and pauses of a process, by threads and times
//!   evidence.rs     of one request, what its time went to
//!     split.rs        its overlap with waits and pauses
//!     time_kind.rs    what a wait was for
//!   comparison.rs   slow requests beside fast ones
//!   tell.rs         the answer
//! ```

mod class_names;
mod comparison;
mod evidence;
mod look;
mod place;
mod request;
mod servers;
mod split;
mod tell;
mod time_kind;

use std::time::Duration;

use clap::Args;
use yunti_base::{Code, Error, Result};
use yunti_program::failure::Outcome;

use super::pattern::pattern;
use crate::jvm;
use crate::jvm::HELD;
use look::What;
use tell::Findings;
use yunti_probe::answer::Answer;
use yunti_probe::kernel::SpanBounds;
use yunti_probe::native::{Function, find};
use yunti_probe::options::{OutputFlags, TargetFlags, duration};
use yunti_probe::stopping::Stopping;
use yunti_probe::target::{Process, Start, Target};

/// What slow requests do that fast ones do not: where their time goes, with the stacks of it
///
/// A request is a call of a Java method, an HTTP request of a common Java server, or what a thread does between two native functions. Time
/// is told by kind: on a processor, in its run queue, waiting for locks, files, the network, page faults, in pauses of the JVM.
#[derive(Debug, Args)]
pub struct SlowFlags {
    #[command(flatten)]
    target: TargetFlags,
    #[command(flatten)]
    pub output: OutputFlags,
    /// A request is a call of this Java method: Cart.total, com.shop.Cart.total
    #[arg(short, long, value_name = "Class.method", value_parser = method, conflicts_with_all = ["http", "from"])]
    method: Option<String>,
    /// A request is one of HTTP, by the server in the JVM; so it is when nothing else is said
    #[arg(long, conflicts_with = "from")]
    http: bool,
    /// A request of a thread begins when it calls this native function: serve, libshop:serve
    #[arg(long, value_name = "FUNCTION")]
    from: Option<String>,
    /// .. and ends when it calls this one; without it, when the first returns
    #[arg(long, value_name = "FUNCTION", requires = "from")]
    to: Option<String>,
    /// Slow are those that take at least so long; without it, the slowest 1 %
    #[arg(long, value_name = "TIME", value_parser = duration)]
    over: Option<Duration>,
}

fn method(text: &str) -> std::result::Result<String, String> {
    if text.contains('*') {
        return Err(format!("'{text}' has '*': a request is a call of one method"));
    }
    pattern(text)
}

pub fn slow(flags: &SlowFlags) -> Outcome {
    let mut stopping = Stopping::new()?;
    let target = flags.target.find(if flags.from.is_some() { HELD } else { Start::Running })?;
    let process = &target.process;
    let is_jvm = jvm::recognise(&target)?;
    let mut answer = Answer::new("slow", process);
    let what = what(flags, &target, is_jvm, &mut answer)?;
    let look = if is_jvm { look::look_into_jvm } else { look::look_at_any };
    let (evidence, watched) = look(&target, &what, flags.output.seconds, &mut stopping, &mut answer)?;
    answer.watched(&watched);
    let findings = Findings::of(&evidence, flags.over);
    let facts = findings.facts();
    findings.tell(&mut answer);
    answer.give(&flags.output.answer, watched.end, facts)
}

/// What a request is.
fn what(flags: &SlowFlags, target: &Target, is_jvm: bool, answer: &mut Answer) -> Result<What> {
    let process = &target.process;
    if let Some(from) = &flags.from {
        return spans(process, from, flags.to.as_deref());
    }
    if !is_jvm {
        return Err(look::no_jvm(process));
    }
    match &flags.method {
        Some(method) => java_method(&target.process, target.is_ours(), method, answer).map(What::Method),
        None => {
            let Some((server, method)) = servers::server(&jvm::loaded_classes(process)?) else {
                let error = Error::new(
                    Code::Input,
                    format!("process {} has no HTTP server that is known: {}", process.pid, servers::known()),
                );
                return Err(error.hint("name the method that handles a request: --method Class.method; a server loads its classes with its first request"));
            };
            answer.notes.push(format!("A request is a call of {method}: {server}."));
            Ok(What::Method(method))
        }
    }
}

/// A method with its class's full name.
fn java_method(process: &Process, is_fresh: bool, said: &str, answer: &mut Answer) -> Result<String> {
    let (class, method) = said.rsplit_once('.').unwrap_or((said, ""));
    // A JVM that cannot say what it has loaded takes the name as it is.
    let Ok(loaded) = jvm::loaded_classes(process) else {
        return Ok(format!("{}.{method}", class_names::as_the_jvm_says(class)));
    };
    match class_names::classes_called(&loaded, class)[..] {
        [one] => Ok(format!("{one}.{method}")),
        // With its package it is known before it is there; and what has just been started has loaded little.
        [] if is_fresh || class.starts_with(char::is_lowercase) => {
            answer
                .notes
                .push(format!("{class} had not been loaded when the look began; it was waited for under this name."));
            Ok(format!("{}.{method}", class_names::as_the_jvm_says(class)))
        }
        [] => {
            let error = Error::new(Code::Input, format!("process {} has loaded no class '{class}'", process.pid));
            Err(error.hint("a class is loaded when it is first used: one that is to come is named with its package; of an interface name the class that implements it"))
        }
        [first, second, ..] => {
            let error = Error::new(Code::Input, format!("'{class}' is the end of more than one name"));
            Err(error.hint(format!("say which: {first}, {second}, ..")))
        }
    }
}

fn spans(process: &Process, from: &str, to: Option<&str>) -> Result<What> {
    let begin = functions(process, from)?;
    let end = match to {
        Some(to) if to != from => functions(process, to)?,
        _ => Vec::new(),
    };
    if let Some(function) = begin.iter().find(|function| end.is_empty() && !function.has_end()) {
        let error = Error::new(Code::Input, format!("the code of {} does not show where it returns", function.name));
        return Err(error.hint("name the function that a request ends with: --to FUNCTION"));
    }
    let name = to.map_or_else(|| from.to_owned(), |to| format!("{from} to {to}"));
    Ok(What::Spans { name, bounds: SpanBounds { begin, end } })
}

fn functions(process: &Process, said: &str) -> Result<Vec<Function>> {
    let (library, name) = match said.split_once(':') {
        Some((library, name)) if !name.starts_with(':') => (Some(library), name),
        _ => (None, said),
    };
    let found = find(process, library, name);
    if !found.is_empty() {
        return Ok(found);
    }
    if !process.is_alive() {
        return Err(process.has_ended());
    }
    let error = Error::new(Code::Input, format!("process {} has no function '{said}'", process.pid));
    Err(error.hint("a program or library without symbols shows but what it exports (nm -D)"))
}
