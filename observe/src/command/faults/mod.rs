//! `yunti observe faults`: page faults by what lies at their address, by kind and by stack, and what would avoid them.

mod gathering;
mod places;

use std::fs;

use clap::Args;
use serde_json::{Value, json};
use yunti_base::Result;
use yunti_program::failure::Outcome;

use super::Look;
use crate::capture::{Ask, Capture, Stacks};
use crate::jvm;
use crate::jvm::HELD;
use crate::why::FaultsSeen;
use gathering::{Gathering, Group};
use places::{Area, Places};
use yunti_probe::answer::{self, Answer, Graph, Table, or_skip};
use yunti_probe::kernel::{Fault, Faults, Home};
use yunti_probe::options::{OutputFlags, TargetFlags};
use yunti_probe::stack::{Frame, Tree};
use yunti_probe::stopping::{PULSE, Stopping, Watched};
use yunti_probe::target::label;

/// Page faults: what lies at the address, of which kind, whose stack, and what would avoid them
///
/// A fault is the kernel putting a page in place when it is first used: half a microsecond, far more where it must be cleared, copied or read.
#[derive(Debug, Args)]
pub struct FaultsFlags {
    #[command(flatten)]
    target: TargetFlags,
    #[command(flatten)]
    pub output: OutputFlags,
    /// Stacks a second that are taken; faults beyond are counted without
    #[arg(long, value_name = "N", default_value = "1000")]
    stacks: u32,
}

/// What the kernel had to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// A page of zeros.
    FirstTouch,
    /// A copy of a page that was shared until then.
    CopyOnWrite,
    /// A page of a file.
    File,
    /// A page that was there is allowed to be written, so that the kernel knows it as changed.
    WriteNotice,
    /// Nothing: what is there may not be used so. The program gets SIGSEGV, which JVMs use for their own ends.
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
        // Whoever waits for it, a script too, may go on.
        eprintln!("watching page faults of {} {}; ctrl-C ends it", label(process), process.pid);
        target.go()
    };
    let how = Look { process, is_jvm, time: flags.output.seconds };
    let mut seen = look(how, flags.stacks, begun, &mut stopping, &mut answer)?;
    answer.watched(&seen.watched);
    let facts = tell(flags, &mut seen, &mut answer);
    answer.give(&flags.output.answer, seen.watched.end, facts)
}

struct Seen {
    watched: Watched,
    gathering: Gathering,
    stacks: Stacks,
    lost: u64,
    stacks_left_away: u64,
    /// Of the whole machine: that many huge pages were cut into small ones.
    huge_splits: u64,
}

/// @param stacks a second
/// @param begun called when nothing is missed any more
fn look(
    look: Look,
    stacks: u32,
    begun: impl FnOnce() -> Result<()>,
    stopping: &mut Stopping,
    answer: &mut Answer,
) -> Result<Seen> {
    let Look { process, is_jvm, time } = look;
    let known = is_jvm.then(|| jvm::areas(process)).transpose();
    let known = or_skip(&mut answer.skips, "heap and code cache by their names", known).flatten().unwrap_or_default();
    let mut capture = Capture::of(process, is_jvm, time)?;
    let mut places = Places::new(process, known);
    let splits = huge_splits();
    let mut at_work = Faults::start(process, capture.events(), stacks)?;
    begun()?;
    let mut gathering = Gathering::new();
    let mut take = |at_work: &mut Faults, capture: &mut Capture| {
        let faults = at_work.collect();
        places.keep_up(&faults);
        for fault in faults {
            let Fault { tid, tid_inside, stack: number, time_ns, .. } = fault;
            capture.asked(Ask { tid, tid_inside, number, time_ns });
            gathering.add(&fault, &places);
        }
        capture.collect();
        true
    };
    let watched = stopping.wait(process, time, PULSE, || take(&mut at_work, &mut capture));
    at_work.detach();
    take(&mut at_work, &mut capture);
    gathering.finish(&places);
    let account = at_work.account();
    Ok(Seen {
        watched,
        gathering,
        stacks: capture.finish()?,
        lost: account.lost,
        stacks_left_away: account.stacks_left_away,
        huge_splits: huge_splits().saturating_sub(splits),
    })
}

fn huge_splits() -> u64 {
    let text = fs::read_to_string("/proc/vmstat").unwrap_or_default();
    text.lines().find_map(|line| line.strip_prefix("thp_split_pmd ")).and_then(|n| n.trim().parse().ok()).unwrap_or(0)
}

/// Pages that fault again and again were given back in between.
const AGAIN: f64 = 1.5;
/// Below, nobody waits for page faults.
const FEW_PER_SECOND: f64 = 1000.0;

/// What would avoid most of a group; None: nothing that is worth it.
fn cure(group: &Group) -> Option<String> {
    let again = group.faults as f64 / group.pages.len().max(1) as f64;
    Some(match (group.kind, &group.area) {
        (Kind::FirstTouch, Area::JavaHeap) if again >= AGAIN => {
            "the heap shrinks and grows again: -Xms as large as -Xmx keeps it".to_owned()
        }
        (Kind::FirstTouch, Area::JavaHeap) => {
            "the heap is used for the first time: -Xms as large as -Xmx with -XX:+AlwaysPreTouch does it at the start; -XX:+UseTransparentHugePages makes 512 faults one".to_owned()
        }
        (Kind::FirstTouch, Area::Heap | Area::Anonymous) if again >= AGAIN => format!(
            "each page faults {again:.1} times: memory is given back to the system and taken again. With glibc larger M_TRIM_THRESHOLD and M_MMAP_THRESHOLD (MALLOC_TRIM_THRESHOLD_, MALLOC_MMAP_THRESHOLD_) keep it; with jemalloc a longer dirty_decay_ms; in code of one's own, buffers that are used again"
        ),
        (Kind::FirstTouch, Area::Heap | Area::Anonymous) => {
            "fresh memory: buffers that are used again, or huge pages (madvise MADV_HUGEPAGE), or MAP_POPULATE where all of it is used".to_owned()
        }
        (Kind::FirstTouch, Area::Shared(_)) => {
            "shared memory is used for the first time: MAP_POPULATE, or huge pages (shmem_enabled)".to_owned()
        }
        (Kind::CopyOnWrite, area) if !area.is_file() && 2 * group.of_zeros > group.faults => {
            "fresh memory is read before it is written, and each page faults twice: first a page of zeros that all share, then a copy of it. Buffers that are used again, huge pages (madvise MADV_HUGEPAGE), or MAP_POPULATE".to_owned()
        }
        (Kind::CopyOnWrite, area) if !area.is_file() => {
            "pages that a fork shares are written: start programs by posix_spawn or vfork, fork before there is much memory or from a small process, or MADV_DONTFORK".to_owned()
        }
        (Kind::File, Area::File(_)) => {
            "a mapped file is read page by page: MAP_POPULATE or MADV_WILLNEED brings it at once; read() into a buffer that is used again needs no pages of its own".to_owned()
        }
        (Kind::WriteNotice, _) => {
            "a mapped file is written, and each page tells so anew after it was written back: write() costs less".to_owned()
        }
        _ => return None,
    })
}

fn tell(flags: &FaultsFlags, seen: &mut Seen, answer: &mut Answer) -> Value {
    let (groups, all) = (&seen.gathering.groups, seen.gathering.faults);
    let rate = all as f64 / answer.seconds.max(0.001);
    answer.lead = match groups.first() {
        None => "no page faults".to_owned(),
        Some(group) => format!(
            "{all} page faults, {rate:.0} a second; {} of them are {} in {}",
            answer::percent(group.faults, all),
            group.kind.name(),
            group.area.name()
        ),
    };
    answer.skips.append(&mut seen.stacks.skips);
    answer.missing(seen.lost, |n| format!("{n} faults, for which there was no room"));
    answer.missing(seen.stacks_left_away, |n| format!("stacks of {n} faults: --stacks {} a second", flags.stacks));
    if seen.huge_splits > 0 {
        answer.notes.push(format!("On this machine {} huge pages were split meanwhile.", seen.huge_splits));
    }
    let advice = groups.first().filter(|_| rate >= FEW_PER_SECOND).and_then(cure);
    match &advice {
        Some(advice) => answer.notes.push(format!("What would avoid most: {advice}.")),
        None if rate < FEW_PER_SECOND => answer.notes.push("So few cost nothing that is felt.".to_owned()),
        None => {}
    }
    answer.tables.push(Table {
        title: "By what lies there".to_owned(),
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
    for way in &seen.gathering.ways {
        if let Some(frames) = seen.stacks.get(way.tid, way.stack) {
            let group = &groups[way.group];
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
        "lost": seen.lost,
        "stacks_left_away": seen.stacks_left_away,
        "huge_page_splits_of_machine": seen.huge_splits,
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
        "one_by_one": seen.gathering.told.iter().map(|told| json!({
            "address": told.address,
            "tid": told.tid,
            "write": told.is_write,
            "kind": groups[told.group].kind.name(),
            "area": groups[told.group].area.name(),
        })).collect::<Vec<_>>(),
    });
    answer.graph = Graph::of("Who touched", tree, 0.0);
    facts
}

/// A short look, for who wants to know whether page faults are what costs.
pub fn summary(how: Look, stopping: &mut Stopping, answer: &mut Answer) -> Result<FaultsSeen> {
    let seen = look(how, SUMMARY_STACKS, || Ok(()), stopping, answer)?;
    let groups = &seen.gathering.groups;
    let all = seen.gathering.faults.max(1) as f64;
    let of = |kind: Kind, part: fn(&Group) -> u64| {
        groups.iter().filter(|group| group.kind == kind).map(part).sum::<u64>() as f64 / all
    };
    let most = groups.first();
    Ok(FaultsSeen {
        per_second: seen.gathering.faults as f64 / seen.watched.time.as_secs_f64().max(0.001),
        first_touch: of(Kind::FirstTouch, |group| group.faults) + of(Kind::CopyOnWrite, |group| group.of_zeros),
        again: of(Kind::FirstTouch, |group| group.faults - group.pages.len() as u64),
        copies: of(Kind::CopyOnWrite, |group| group.faults - group.of_zeros),
        place: most.map_or_else(String::new, |group| format!("{} in {}", group.kind.name(), group.area.name())),
        advice: most.and_then(cure),
    })
}

const SUMMARY_STACKS: u32 = 20;
