//! `yunti observe heap`: who holds the memory, of a live JVM or in a heap dump.

mod dump;
mod dump_answer;
mod figures;
mod freed_memory;
mod growth;
mod holders;
mod live;
mod outside;
mod paths;
mod query;
mod sentences;
mod snapshot;

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use yunti_base::{Code, Error, Result};
use yunti_probe::options::{AnswerFlags, seconds};
use yunti_probe::target::Target;
use yunti_program::failure::Outcome;

use crate::jvm;

const PAUSE_MAX: Duration = Duration::from_secs(5);

/// Say who holds the memory of a JVM, and what keeps it alive
///
/// Of a live JVM: counts its objects twice, says which classes grow and where their survivors are allocated, and what
/// memory the process has beside the heap. Each count stops the JVM. Of a heap dump (`jcmd PID GC.heap_dump FILE`),
/// also a compressed one: names the objects that hold most, by the dominator tree, with a path from a root to each. The
/// same for a heap snapshot of Node.js or Chrome (`node --heapsnapshot-signal=SIGUSR2`).
#[derive(Debug, Args)]
pub struct HeapFlags {
    /// Heap dump, or process number, or a part of the process's name, its jar or its main class
    #[arg(value_name = "DUMP|PID|NAME")]
    target: PathBuf,
    /// Show this number of rows of each table
    #[arg(long, value_name = "N", default_value = "15", value_parser = clap::value_parser!(u16).range(1..=1000))]
    top: u16,
    /// JVM: time between the two counts; 10 without this
    #[arg(short, long, value_name = "SECONDS", value_parser = seconds)]
    seconds: Option<Duration>,
    /// JVM: count garbage, too, which saves a full collection before each count
    #[arg(long)]
    garbage: bool,
    /// JVM: count only if the JVM is expected to stop for no more than this each time; 5 without this
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pause_max: Option<Duration>,
    /// JVM: also ask its flight recorder which references keep sampled objects alive, which stops it for a walk of its
    /// heap
    #[arg(long)]
    paths: bool,
    /// Dump: use this number of threads instead of one for each processor
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    threads: Option<u16>,
    /// Dump: also look for waste: equal strings, empty and sparse collections, arrays of zeros
    #[arg(long)]
    waste: bool,
    /// Dump: compare with this earlier dump: which classes grew, and what their largest objects hold
    #[arg(long, value_name = "OLD")]
    diff: Option<PathBuf>,
    /// Dump: answer this query over its objects: "select s.user, @retainedHeapSize from shop.Session s limit 9"
    #[arg(long, value_name = "OQL", conflicts_with_all = ["diff", "redact", "waste"])]
    query: Option<String>,
    /// Dump: write a copy to OUT in which values of arrays and strings are zeros, and do nothing else
    #[arg(long, value_name = "OUT", conflicts_with_all = ["diff", "output"])]
    redact: Option<PathBuf>,
    #[command(flatten)]
    pub answer: AnswerFlags,
}

impl HeapFlags {
    fn pause_max(&self) -> Duration {
        self.pause_max.unwrap_or(PAUSE_MAX)
    }

    /// Returns the first option that only a live JVM has.
    fn of_a_jvm(&self) -> Option<&'static str> {
        [
            (self.seconds.is_some(), "--seconds"),
            (self.garbage, "--garbage"),
            (self.pause_max.is_some(), "--pause-max"),
            (self.paths, "--paths"),
        ]
        .into_iter()
        .find_map(|(is_given, name)| is_given.then_some(name))
    }

    /// Returns the first option that only a dump has.
    fn of_a_dump(&self) -> Option<&'static str> {
        [
            (self.waste, "--waste"),
            (self.diff.is_some(), "--diff"),
            (self.query.is_some(), "--query"),
            (self.redact.is_some(), "--redact"),
            (self.threads.is_some(), "--threads"),
        ]
        .into_iter()
        .find_map(|(is_given, name)| is_given.then_some(name))
    }
}

pub fn heap(flags: &HeapFlags) -> Outcome {
    freed_memory::return_to_system();
    match process(&flags.target)? {
        None => match flags.of_a_jvm() {
            Some(option) => Err(Error::new(Code::Usage, format!("{option} is for a live JVM"))
                .at_path(flags.target.to_string_lossy())
                .hint("leave it out, or give a process number instead of a dump")
                .into()),
            None if snapshot::is_file(&flags.target) => snapshot::snapshot(flags),
            None => dump::dump(flags),
        },
        Some(target) => match flags.of_a_dump() {
            Some(option) => Err(Error::new(Code::Usage, format!("{option} needs a heap dump"))
                .hint(format!("write one, which stops the JVM: `jcmd {} GC.heap_dump FILE`", target.process.pid))
                .into()),
            None => live::live(flags, &target),
        },
    }
}

/// Returns the JVM that is meant; `None` for a file.
fn process(target: &Path) -> Result<Option<Target>> {
    let name = target.to_string_lossy();
    let is_file = target.exists()
        || name.contains('/')
        || [".hprof", ".gz", ".bin", ".heapsnapshot"].iter().any(|end| name.ends_with(end));
    if is_file {
        return Ok(None);
    }
    let target = Target::find(None, Some(&name), &[], jvm::HELD)
        .map_err(|error| error.hint("give a heap dump, a process number, or a part of a process's name"))?;
    if jvm::recognise(&target)? {
        return Ok(Some(target));
    }
    let process = &target.process;
    Err(Error::new(Code::Usage, format!("process {} ({}) is not a JVM", process.pid, process.name))
        .hint(format!("`yunti observe flame --event alloc {}` shows where it allocates", process.pid)))
}
