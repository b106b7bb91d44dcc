//! `yunti observe slow`: the difference between slow and fast requests.
//!
//! ```text
//!   class_names.rs  classes by the user's names
//!   measure.rs      requests, stacks, waits and pauses of a process, by thread and time
//!   evidence.rs     breakdown of one request's time
//!     split.rs        overlap of a request with waits and pauses
//!   comparison.rs   slow requests compared with fast ones
//!     place.rs        places in the program
//!   report.rs       the answer
//! ```

mod class_names;
mod comparison;
mod evidence;
mod measure;
mod place;
mod report;
mod request;
mod split;

use std::time::Duration;

use clap::Args;
use yunti_base::{Code, Error, Result};
use yunti_program::failure::Outcome;

use super::pattern::pattern;
use crate::jvm;
use crate::jvm::{HELD, servers};
use measure::RequestDefinition;
use report::Findings;
use yunti_probe::answer::Answer;
use yunti_probe::code::{Function, find};
use yunti_probe::kernel::SpanBounds;
use yunti_probe::options::{OutputFlags, TargetFlags, duration};
use yunti_probe::stopping::Stopping;
use yunti_probe::target::{Process, Start, Target};

/// Compare slow requests with fast ones: where their time goes, with stacks
///
/// A request is a call of a Java method, an HTTP request of a common Java server, or the work of a thread between two
/// native functions. Time is split by kind: on CPU, run queue, locks, files, network, page faults, pauses of the JVM.
#[derive(Debug, Args)]
pub struct SlowFlags {
    #[command(flatten)]
    target: TargetFlags,
    #[command(flatten)]
    pub output: OutputFlags,
    /// Define a request as a call of this Java method: Cart.total, com.shop.Cart.total
    #[arg(short, long, value_name = "Class.method", value_parser = method, conflicts_with_all = ["http", "from"])]
    method: Option<String>,
    /// Define a request as an HTTP request of the server in the JVM (the default)
    #[arg(long, conflicts_with = "from")]
    http: bool,
    /// Begin a request when a thread calls this native function: serve, libshop:serve
    #[arg(long, value_name = "FUNCTION")]
    from: Option<String>,
    /// End it when the thread calls this function; by default, when the first one returns
    #[arg(long, value_name = "FUNCTION", requires = "from")]
    to: Option<String>,
    /// Count requests of at least this duration as slow; by default, the slowest 1 %
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
    let definition = definition(flags, &target, is_jvm, &mut answer)?;
    let measure = if is_jvm { measure::measure_jvm } else { measure::measure_native };
    let (evidence, watched) = measure(&target, &definition, flags.output.seconds, &mut stopping, &mut answer)?;
    answer.watched(&watched);
    let findings = Findings::of(&evidence, flags.over);
    let facts = findings.facts();
    findings.render(&mut answer);
    answer.give(&flags.output.answer, watched.end, facts)
}

/// Returns the definition of a request by the flags.
fn definition(flags: &SlowFlags, target: &Target, is_jvm: bool, answer: &mut Answer) -> Result<RequestDefinition> {
    let process = &target.process;
    if let Some(from) = &flags.from {
        return spans(process, from, flags.to.as_deref());
    }
    if !is_jvm {
        return Err(measure::no_jvm(process));
    }
    match &flags.method {
        Some(method) => java_method(&target.process, target.is_ours(), method, answer).map(RequestDefinition::Method),
        None => {
            let Some(server) = servers::whole_server(&jvm::loaded_classes(process)?) else {
                let error = Error::new(
                    Code::Input,
                    format!("process {} has none of these HTTP servers: {}", process.pid, servers::known_whole()),
                );
                return Err(error.hint(
                    "name the method that handles a request: --method Class.method; or send a request first, because \
                     servers load their classes then",
                ));
            };
            let method = server.method();
            answer.notes.push(format!("A request is a call of {method}: {}.", server.name));
            Ok(RequestDefinition::Method(method))
        }
    }
}

/// Returns a method with the binary name of its class.
fn java_method(process: &Process, is_fresh: bool, name: &str, answer: &mut Answer) -> Result<String> {
    let (class, method) = name.rsplit_once('.').unwrap_or((name, ""));
    // Without a list of loaded classes, use the name as it is.
    let Ok(loaded) = jvm::loaded_classes(process) else {
        return Ok(format!("{}.{method}", class_names::binary_name(class)));
    };
    match class_names::matching_classes(&loaded, class)[..] {
        [one] => Ok(format!("{one}.{method}")),
        // A qualified name is valid before its class is loaded, and a JVM that was just started has loaded few classes.
        [] if is_fresh || class.starts_with(char::is_lowercase) => {
            answer
                .notes
                .push(format!("{class} was not loaded when the measurement began; it was expected under this name."));
            Ok(format!("{}.{method}", class_names::binary_name(class)))
        }
        [] => {
            let error = Error::new(Code::Input, format!("process {} has loaded no class '{class}'", process.pid));
            Err(error.hint(
                "classes are loaded on first use: name a class that is not loaded yet with its package, \
                 and for an interface name the implementing class",
            ))
        }
        [first, second, ..] => {
            let error = Error::new(Code::Input, format!("'{class}' matches more than one class"));
            Err(error.hint(format!("name one of them: {first}, {second}, ..")))
        }
    }
}

fn spans(process: &Process, from: &str, to: Option<&str>) -> Result<RequestDefinition> {
    let begin = functions(process, from)?;
    let end = match to {
        Some(to) if to != from => functions(process, to)?,
        _ => Vec::new(),
    };
    if let Some(function) = begin.iter().find(|function| end.is_empty() && !function.has_end()) {
        let error = Error::new(Code::Input, format!("the return instructions of {} were not found", function.name));
        return Err(error.hint("name the function that ends a request: --to FUNCTION"));
    }
    let name = to.map_or_else(|| from.to_owned(), |to| format!("{from} to {to}"));
    Ok(RequestDefinition::Spans { name, bounds: SpanBounds { begin, end } })
}

fn functions(process: &Process, function: &str) -> Result<Vec<Function>> {
    let (library, name) = match function.split_once(':') {
        Some((library, name)) if !name.starts_with(':') => (Some(library), name),
        _ => (None, function),
    };
    let found = find(process, library, name);
    if !found.is_empty() {
        return Ok(found);
    }
    if !process.is_alive() {
        return Err(process.has_ended());
    }
    let error = Error::new(Code::Input, format!("process {} has no function '{function}'", process.pid));
    Err(error.hint("a program or library without symbols has only its exported functions (nm -D)"))
}
