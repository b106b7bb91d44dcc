//! `yunti observe faults`: page faults by mapping, kind and stack, and how to avoid them.

mod places;
mod totals;

use std::fs;

use clap::Args;
use serde_json::{Value, json};
use yunti_base::Result;
use yunti_program::failure::Outcome;

use super::Measurement;
use crate::capture::{Capture, StackRequest, Stacks};
use crate::jvm;
use crate::jvm::HELD;
use crate::why::FaultSummary;
use places::{Area, Places};
use totals::{Group, Totals};
use yunti_probe::answer::{self, Answer, Graph, Table, or_skip};
use yunti_probe::kernel::{Fault, Faults, Home};
use yunti_probe::options::{OutputFlags, TargetFlags};
use yunti_probe::stack::{Frame, Tree};
use yunti_probe::stopping::{PULSE, Stopping, Watched};
use yunti_probe::target::label;

/// Show page faults by mapping, kind and stack, and how to avoid them
///
/// A page fault is the kernel mapping a page on its first use. It takes half a microsecond, and far more if the
/// page must be cleared, copied or read.
#[derive(Debug, Args)]
pub struct FaultsFlags {
    #[command(flatten)]
    target: TargetFlags,
    #[command(flatten)]
    pub output: OutputFlags,
    /// Take at most N stacks per second; count further faults without a stack
    #[arg(long, value_name = "N", default_value = "1000")]
    stacks: u32,
}

/// Action of the kernel on a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// It mapped a page of zeros.
    FirstTouch,
    /// It copied a page that was shared until then.
    CopyOnWrite,
    /// It mapped a page of a file.
    File,
    /// It made a mapped page writable and marked it dirty.
    WriteNotice,
    /// The access is not allowed, and the program gets SIGSEGV. JVMs provoke and handle such faults themselves.
    Forbidden,
}

impl Kind {
    fn of(fault: &Fault, area: &Area, home: Option<&Home>) -> Kind {
        let (is_shared, is_writable) = home.map_or((false, false), |home| (home.is_shared, home.is_writable));
        match (fault.was_there, area) {
            (_, Area::Nowhere) => Kind::Forbidden,
            (true, _) if fault.is_write && is_shared => Kind::WriteNotice,
            (true, _) if fault.is_write && is_writable => Kind::CopyOnWrite,
            (true, _) => Kind::Forbidden,
            (false, area) if area.is_file() => Kind::File,
            (false, _) => Kind::FirstTouch,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Kind::FirstTouch => "first touch",
            Kind::CopyOnWrite => "copy on write",
            Kind::File => "file",
            Kind::WriteNotice => "write notice",
            Kind::Forbidden => "forbidden",
        }
    }
}

pub fn faults(flags: &FaultsFlags) -> Outcome {
    let mut stopping = Stopping::new()?;
    let target = flags.target.find(HELD)?;
    let process = &target.process;
    let is_jvm = jvm::recognise(&target)?;
    let mut answer = Answer::new("faults", process);
    let begun = || {
        // A script that waits for this line may go on.
        eprintln!("watching page faults of {} {}; ctrl-C ends it", label(process), process.pid);
        target.go()
    };
    let measurement = Measurement { process, is_jvm, time: flags.output.seconds };
    let mut results = measure(measurement, flags.stacks, begun, &mut stopping, &mut answer)?;
    answer.watched(&results.watched);
    let facts = render(flags, &mut results, &mut answer);
    answer.give(&flags.output.answer, results.watched.end, facts)
}

struct FaultResults {
    watched: Watched,
    totals: Totals,
    stacks: Stacks,
    lost: u64,
    stacks_dropped: u64,
    /// Huge pages of the whole machine that were split into small ones.
    huge_splits: u64,
}

/// Records page faults until the time is over.
///
/// @param stacks the most stacks to take per second
/// @param begun called as soon as every fault is recorded
fn measure(
    measurement: Measurement,
    stacks: u32,
    begun: impl FnOnce() -> Result<()>,
    stopping: &mut Stopping,
    answer: &mut Answer,
) -> Result<FaultResults> {
    let Measurement { process, is_jvm, time } = measurement;
    let known = is_jvm.then(|| jvm::areas(process)).transpose();
    let known = or_skip(&mut answer.skips, "names of heap and code cache", known).flatten().unwrap_or_default();
    let mut capture = Capture::of(process, is_jvm, time)?;
    let mut places = Places::new(process, known);
    let splits = huge_splits();
    let mut faults_program = Faults::start(process, capture.events(), stacks)?;
    begun()?;
    let mut totals = Totals::new();
    let mut collect = |faults_program: &mut Faults, capture: &mut Capture| {
        let faults = faults_program.collect();
        places.keep_up(&faults);
        for fault in faults {
            let Fault { tid, tid_inside, stack: number, time_ns, .. } = fault;
            capture.record(StackRequest { tid, tid_inside, number, time_ns });
            totals.add(&fault, &places);
        }
        capture.collect();
        true
    };
    let watched = stopping.wait(process, time, PULSE, || collect(&mut faults_program, &mut capture));
    faults_program.detach();
    collect(&mut faults_program, &mut capture);
    totals.finish(&places);
    let account = faults_program.account();
    Ok(FaultResults {
        watched,
        totals,
        stacks: capture.finish()?,
        lost: account.lost,
        stacks_dropped: account.stacks_dropped,
        huge_splits: huge_splits().saturating_sub(splits),
    })
}

fn huge_splits() -> u64 {
    let text = fs::read_to_string("/proc/vmstat").unwrap_or_default();
    text.lines().find_map(|line| line.strip_prefix("thp_split_pmd ")).and_then(|n| n.trim().parse().ok()).unwrap_or(0)
}

/// Faults per page from which on the program must have released and reused its pages.
const AGAIN: f64 = 1.5;
/// Faults per second below which page faults cost nothing noticeable.
const FEW_PER_SECOND: f64 = 1000.0;

/// Returns the change that would avoid most faults of a group; `None` if none is worth it.
fn cure(group: &Group) -> Option<String> {
    let again = group.faults as f64 / group.pages.len().max(1) as f64;
    Some(match (group.kind, &group.area) {
        (Kind::FirstTouch, Area::JavaHeap) if again >= AGAIN => {
            "the heap shrinks and grows again: set -Xms to the value of -Xmx".to_owned()
        }
        (Kind::FirstTouch, Area::JavaHeap) => {
            "the heap is used for the first time: set -Xms to the value of -Xmx and add -XX:+AlwaysPreTouch to touch \
             it at the start; -XX:+UseTransparentHugePages takes one fault instead of 512"
                .to_owned()
        }
        (Kind::FirstTouch, Area::Heap | Area::Anonymous) if again >= AGAIN => format!(
            "each page faults {again:.1} times: memory is returned to the system and requested again. With glibc \
             raise M_TRIM_THRESHOLD and M_MMAP_THRESHOLD (MALLOC_TRIM_THRESHOLD_, MALLOC_MMAP_THRESHOLD_); with \
             jemalloc raise dirty_decay_ms; in your own code reuse buffers"
        ),
        (Kind::FirstTouch, Area::Heap | Area::Anonymous) => {
            "fresh memory: reuse buffers, or use huge pages (madvise MADV_HUGEPAGE), or MAP_POPULATE if all of \
             it is used"
                .to_owned()
        }
        (Kind::FirstTouch, Area::Shared(_)) => {
            "shared memory is used for the first time: use MAP_POPULATE, or huge pages (shmem_enabled)".to_owned()
        }
        (Kind::CopyOnWrite, area) if !area.is_file() && 2 * group.of_zeros > group.faults => {
            "fresh memory is read before it is written, so each page faults twice: first for the shared page of \
             zeros, then for a copy. Reuse buffers, or use huge pages (madvise MADV_HUGEPAGE) or \
             MAP_POPULATE"
                .to_owned()
        }
        (Kind::CopyOnWrite, area) if !area.is_file() => {
            "pages that a fork shares are written: start programs with posix_spawn or vfork, fork before memory grows \
             or from a small process, or use MADV_DONTFORK"
                .to_owned()
        }
        (Kind::File, Area::File(_)) => {
            "a mapped file is read page by page: MAP_POPULATE or MADV_WILLNEED reads it at once; read() into a reused \
             buffer needs no new pages"
                .to_owned()
        }
        (Kind::WriteNotice, _) => {
            "a mapped file is written, and each page faults again after each write-back: write() costs less".to_owned()
        }
        _ => return None,
    })
}

/// Fills the answer, and returns its JSON facts.
fn render(flags: &FaultsFlags, results: &mut FaultResults, answer: &mut Answer) -> Value {
    let (groups, all) = (&results.totals.groups, results.totals.faults);
    let rate = all as f64 / answer.seconds.max(0.001);
    answer.lead = match groups.first() {
        None => "no page faults".to_owned(),
        Some(group) => format!(
            "{all} page faults, {rate:.0} per second; {} of them are {} in {}",
            answer::percent(group.faults, all),
            group.kind.name(),
            group.area.name()
        ),
    };
    answer.skips.append(&mut results.stacks.skips);
    answer.missing(results.lost, |n| format!("{n} faults: the buffer was full"));
    answer.missing(results.stacks_dropped, |n| format!("stacks of {n} faults: --stacks {} per second", flags.stacks));
    if results.huge_splits > 0 {
        answer.notes.push(format!("The machine split {} huge pages during this time.", results.huge_splits));
    }
    let advice = groups.first().filter(|_| rate >= FEW_PER_SECOND).and_then(cure);
    match &advice {
        Some(advice) => answer.notes.push(format!("To avoid most of them: {advice}.")),
        None if rate < FEW_PER_SECOND => answer.notes.push("This rate has no noticeable cost.".to_owned()),
        None => {}
    }
    answer.tables.push(Table {
        title: "By mapping".to_owned(),
        columns: vec![
            ("faults", true),
            ("share", true),
            ("pages", true),
            ("by kernel", true),
            ("kind", false),
            ("where", false),
            ("addresses", false),
        ],
        rows: groups
            .iter()
            .map(|group| {
                vec![
                    group.faults.to_string(),
                    answer::percent(group.faults, all),
                    group.pages.len().to_string(),
                    group.by_kernel.to_string(),
                    group.kind.name().to_owned(),
                    group.area.name(),
                    format!("{:x}-{:x}", group.lowest, group.highest),
                ]
            })
            .collect(),
        shown: 20,
    });
    let (mut tree, mut stacks) = (Tree::default(), 0);
    for stack in &results.totals.stack_refs {
        if let Some(frames) = results.stacks.get(stack.tid, stack.stack) {
            let group = &groups[stack.group];
            let what = format!("[{}, {}]", group.kind.name(), group.area.name());
            let leaf = Frame { name: what.into(), kind: yunti_probe::stack::Kind::Group };
            tree.add(frames.iter().chain([&leaf]), 1);
            stacks += 1;
        }
    }
    answer.listings.push(answer::stacks("Who touched", tree.dearest(20), |n| format!("{n} faults")));
    let facts = json!({
        "faults": all,
        "stacks": stacks,
        "lost": results.lost,
        "stacks_dropped": results.stacks_dropped,
        "huge_page_splits_of_machine": results.huge_splits,
        "advice": advice,
        "by_area": groups.iter().map(|group| json!({
            "area": group.area.name(),
            "kind": group.kind.name(),
            "faults": group.faults,
            "by_kernel": group.by_kernel,
            "of_zeros": group.of_zeros,
            "pages": group.pages.len(),
            "lowest": group.lowest,
            "highest": group.highest,
        })).collect::<Vec<_>>(),
        "records": results.totals.records.iter().map(|record| json!({
            "address": record.address,
            "tid": record.tid,
            "write": record.is_write,
            "kind": groups[record.group].kind.name(),
            "area": groups[record.group].area.name(),
        })).collect::<Vec<_>>(),
    });
    answer.graph = Graph::of("Who touched", tree, 0.0);
    facts
}

/// Measures page faults for `yunti observe why`, with few stacks.
pub fn summary(measurement: Measurement, stopping: &mut Stopping, answer: &mut Answer) -> Result<FaultSummary> {
    let results = measure(measurement, SUMMARY_STACKS, || Ok(()), stopping, answer)?;
    let groups = &results.totals.groups;
    let all = results.totals.faults.max(1) as f64;
    let of = |kind: Kind, part: fn(&Group) -> u64| {
        groups.iter().filter(|group| group.kind == kind).map(part).sum::<u64>() as f64 / all
    };
    let most = groups.first();
    Ok(FaultSummary {
        per_second: results.totals.faults as f64 / results.watched.time.as_secs_f64().max(0.001),
        first_touch: of(Kind::FirstTouch, |group| group.faults) + of(Kind::CopyOnWrite, |group| group.of_zeros),
        again: of(Kind::FirstTouch, |group| group.faults - group.pages.len() as u64),
        copies: of(Kind::CopyOnWrite, |group| group.faults - group.of_zeros),
        place: most.map_or_else(String::new, |group| format!("{} in {}", group.kind.name(), group.area.name())),
        advice: most.and_then(cure),
    })
}

/// Stacks per second that [`summary`] takes.
const SUMMARY_STACKS: u32 = 20;
