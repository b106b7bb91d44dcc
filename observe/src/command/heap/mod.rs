//! `yunti observe heap`: who holds the memory of a heap dump.

mod freed_memory;
mod render;

use std::path::PathBuf;
use std::thread;

use clap::Args;
use serde_json::json;
use yunti_base::{Code, Error};
use yunti_heap::answer::redact::redact;
use yunti_heap::answer::summary::Summary;
use yunti_heap::answer::suspects::large;
use yunti_heap::answer::threads::threads;
use yunti_heap::answer::waste::{same_classes, wastes};
use yunti_heap::{Heap, Settings};
use yunti_probe::answer::{self, Answer};
use yunti_probe::options::AnswerFlags;
use yunti_probe::stopping::End;
use yunti_program::failure::Outcome;

use render::{Findings, Growth, facts, render};

/// Say who holds the memory of a heap dump, and what keeps it alive
///
/// Reads a dump of a JVM (`jcmd PID GC.heap_dump FILE`), also a compressed one, and needs no process. The answer names
/// the objects that hold most, by the dominator tree, with a path from a root to each.
#[derive(Debug, Args)]
pub struct HeapFlags {
    /// Read this heap dump
    #[arg(value_name = "DUMP")]
    dump: PathBuf,
    /// Show this number of rows of each table
    #[arg(long, value_name = "N", default_value = "15", value_parser = clap::value_parser!(u16).range(1..=1000))]
    top: u16,
    /// Use this number of threads instead of one for each processor
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    threads: Option<u16>,
    /// Also look for waste: equal strings, empty and sparse collections, arrays of zeros
    #[arg(long)]
    waste: bool,
    /// Compare with this earlier dump: which classes grew, and what their largest objects hold
    #[arg(long, value_name = "OLD")]
    diff: Option<PathBuf>,
    /// Write a copy of the dump to OUT in which values of arrays and strings are zeros, and do nothing else
    #[arg(long, value_name = "OUT", conflicts_with_all = ["diff", "output"])]
    redact: Option<PathBuf>,
    #[command(flatten)]
    pub answer: AnswerFlags,
}

/// Objects below the roots whose retained bytes are compared.
const COMPARED: usize = 1000;
/// Locals shown for a thread.
const LOCALS_SHOWN: usize = 3;

pub fn heap(flags: &HeapFlags) -> Outcome {
    freed_memory::return_to_system();
    let processors = thread::available_parallelism().map_or(1, usize::from);
    let scratch = std::env::temp_dir();
    let settings = Settings { threads: flags.threads.map_or(processors, usize::from), scratch: &scratch };
    if let Some(out) = &flags.redact {
        let bytes = redact(&flags.dump, out, &scratch)?;
        let mut answer = Answer::of_file("heap", flags.dump.to_string_lossy().into_owned());
        answer.lead = format!("{} has the same objects; {} of contents are zeros", out.display(), answer::bytes(bytes));
        return answer.give(&flags.answer, End::Enough, json!({"copy": out.to_string_lossy(), "zeroed_bytes": bytes}));
    }
    // One heap at a time is in memory.
    let old = match &flags.diff {
        Some(old) => {
            let heap = Heap::read(old, settings)?;
            Some(Summary::of(&heap, &large(&heap, COMPARED)?))
        }
        None => None,
    };
    let heap = Heap::read(&flags.dump, settings)?;
    let top = usize::from(flags.top);
    let large = large(&heap, top.max(if old.is_some() { COMPARED } else { render::PARTS_MAX }))?;
    let growth = old.map(|old| Growth::of(&Summary::of(&heap, &large), &old));
    let findings = Findings {
        large,
        growth,
        threads: threads(&heap, top, LOCALS_SHOWN)?,
        wastes: if flags.waste { wastes(&heap)? } else { Vec::new() },
        same_classes: same_classes(&heap),
        top,
    };
    if heap.total().objects == 0 {
        return Err(Error::new(Code::Corrupt, "the dump has no object that a root reaches")
            .at_path(flags.dump.to_string_lossy())
            .hint("write it again, for example with `jcmd PID GC.heap_dump FILE`")
            .into());
    }
    let mut answer = Answer::of_file("heap", flags.dump.to_string_lossy().into_owned());
    render(&heap, &findings, &mut answer);
    answer.give(&flags.answer, End::Enough, facts(&heap, &findings))
}
