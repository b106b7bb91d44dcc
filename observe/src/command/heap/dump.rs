//! Heap dump: read, analysed and answered.

use std::thread;

use serde_json::json;
use yunti_base::{Code, Error};
use yunti_heap::answer::loaders::{loaders, same_classes};
use yunti_heap::answer::redact::redact;
use yunti_heap::answer::summary::Summary;
use yunti_heap::answer::suspects::large;
use yunti_heap::answer::threads::kinds::kinds_of_threads;
use yunti_heap::answer::threads::threads;
use yunti_heap::answer::tree::tree;
use yunti_heap::answer::waste::wastes;
use yunti_heap::{Heap, Settings};
use yunti_probe::answer::{self, Answer};
use yunti_probe::stopping::End;
use yunti_program::failure::Outcome;

use super::HeapFlags;
use super::dump_answer::{Findings, Growth, facts, render};
use super::holders::PARTS_MAX;
use super::query;

/// Objects below the roots whose retained bytes are compared.
const COMPARED: usize = 1000;
/// Threads that are read, the largest first.
const THREADS_MAX: usize = 100_000;
/// Locals shown for a thread.
const LOCALS_SHOWN: usize = 3;

pub fn dump(flags: &HeapFlags) -> Outcome {
    let processors = thread::available_parallelism().map_or(1, usize::from);
    let scratch = std::env::temp_dir();
    let settings = Settings { threads: flags.threads.map_or(processors, usize::from), scratch: &scratch };
    if let Some(out) = &flags.redact {
        let bytes = redact(&flags.target, out, &scratch)?;
        let mut answer = Answer::of_file("heap", flags.target.to_string_lossy().into_owned());
        answer.lead = format!("{} has the same objects; {} of contents are zeros", out.display(), answer::bytes(bytes));
        return answer.give(&flags.answer, End::Enough, json!({"copy": out.to_string_lossy(), "zeroed_bytes": bytes}));
    }
    // First, so that a wrong query fails before the dump is read.
    if let Some(text) = &flags.query {
        let query = query::parse(text)?;
        let heap = Heap::read(&flags.target, settings)?;
        let mut answer = Answer::of_file("heap", flags.target.to_string_lossy().into_owned());
        let facts = query::answer(&heap, &query, usize::from(flags.top), &mut answer)?;
        return answer.give(&flags.answer, End::Enough, facts);
    }
    // One heap at a time is in memory.
    let old = match &flags.diff {
        Some(old) => {
            let heap = Heap::read(old, settings)?;
            Some(Summary::of(&heap, &large(&heap, COMPARED)?))
        }
        None => None,
    };
    let heap = Heap::read(&flags.target, settings)?;
    let top = usize::from(flags.top);
    let large = large(&heap, top.max(if old.is_some() { COMPARED } else { PARTS_MAX }))?;
    let growth = old.map(|old| Growth::of(&Summary::of(&heap, &large), &old));
    let mut threads = threads(&heap, THREADS_MAX, LOCALS_SHOWN)?;
    let kinds_of_threads = kinds_of_threads(&threads);
    threads.truncate(top);
    let loaders = loaders(&heap)?;
    let findings = Findings {
        large,
        tree: if flags.answer.output.is_some() { tree(&heap)? } else { Vec::new() },
        growth,
        threads,
        kinds_of_threads,
        same_classes: same_classes(&heap, &loaders),
        loaders,
        wastes: if flags.waste { wastes(&heap)? } else { Vec::new() },
        top,
    };
    if heap.total().objects == 0 {
        return Err(Error::new(Code::Corrupt, "the dump has no object that a root reaches")
            .at_path(flags.target.to_string_lossy())
            .hint("write it again, for example with `jcmd PID GC.heap_dump FILE`")
            .into());
    }
    let mut answer = Answer::of_file("heap", flags.target.to_string_lossy().into_owned());
    render(&heap, &findings, &mut answer);
    answer.give(&flags.answer, End::Enough, facts(&heap, &findings))
}
