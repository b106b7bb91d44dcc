//! `yunti observe flame`: where the time goes, as one graph from Java method to kernel.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use clap::{Args, ValueEnum};
use serde_json::{Value, json};
use yunti_base::{Code, Error, Result};
use yunti_program::failure::Outcome;

use super::{Look, locks};
use crate::jvm::HELD;
use crate::jvm::{self, Event, Profiler, Sampling};
use yunti_probe::answer::{self, Answer, Graph, Table};
use yunti_probe::kernel::{Allocations, StackEvents};
use yunti_probe::native::{Native, Waited, Waiting};
use yunti_probe::options::{OutputFlags, TargetFlags};
use yunti_probe::stack::{Frame, Kind, Tree};
use yunti_probe::stopping::{PULSE, Stopping, Watched};
use yunti_probe::target::{Process, Target};

/// Where the time goes: one graph of Java, the JVM's own code, native libraries and the kernel
///
/// Samples what runs (or waits, allocates, or is held up by locks), and puts the stacks together. A page of it can be searched and
/// zoomed into.
#[derive(Debug, Args)]
pub struct FlameFlags {
    #[command(flatten)]
    target: TargetFlags,
    #[command(flatten)]
    pub output: OutputFlags,
    /// What is sampled
    #[arg(short, long, value_enum, default_value = "cpu")]
    event: Event,
    /// Samples a second of each thread, of cpu and wall
    #[arg(long, value_name = "HZ", default_value = "99", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    rate: u32,
    /// A graph of each thread
    #[arg(long)]
    threads: bool,
    /// A graph of each state: running, sleeping; of a process that is no JVM, waiting for a processor too
    #[arg(long)]
    states: bool,
    /// Compare with an earlier answer, which --json has given
    #[arg(long, value_name = "OLD.json")]
    diff: Option<PathBuf>,
}

/// Of a period.
const OUT_OF_STEP: f64 = 0.73;
/// Frames that are told on the terminal.
const HOTTEST: usize = 20;

pub fn flame(flags: &FlameFlags) -> Outcome {
    let mut stopping = Stopping::new()?;
    // Before anything is looked at: what cannot be compared is said at once.
    let old = flags.diff.as_deref().map(earlier).transpose()?;
    let target = flags.target.find(HELD)?;
    let mut answer = Answer::new("flame", &target.process);
    let seen = if jvm::recognise(&target)? {
        look_into_jvm(flags, &target.process, &mut stopping, &mut answer)?
    } else {
        look_at_any(flags, &target, &mut stopping, &mut answer)?
    };
    answer.watched(&seen.watched);
    tell(flags, &mut answer, seen.tree, old, seen.samples);
    let facts = json!({
        "event": flags.event.to_possible_value().map(|value| value.get_name().to_owned()),
        "rate_hz": flags.rate,
        "samples": seen.samples,
        "calls": seen.asked.map(|(calls, _)| calls),
        "bytes": seen.asked.map(|(_, bytes)| bytes),
    });
    answer.give(&flags.output.answer, seen.watched.end, facts)
}

struct Seen {
    watched: Watched,
    tree: Tree,
    samples: usize,
    /// Calls of malloc and bytes, all of them.
    asked: Option<(u64, u64)>,
}

fn earlier(path: &Path) -> Result<Tree> {
    let failed = |what: &str| {
        Error::new(Code::Input, what.to_owned())
            .at_path(path.to_string_lossy())
            .hint("give what `yunti observe flame --json` has printed")
    };
    let text = fs::read_to_string(path)
        .map_err(|e| Error::io(Code::Input, "cannot read what to compare with", &e).at_path(path.to_string_lossy()))?;
    let json: Value = serde_json::from_str(&text).map_err(|e| failed(&format!("no JSON: {e}")))?;
    Tree::from_json(&json["tree"]).ok_or_else(|| failed("no flame graph"))
}

fn look_into_jvm(flags: &FlameFlags, process: &Process, stopping: &mut Stopping, answer: &mut Answer) -> Result<Seen> {
    let interval = Duration::from_secs(1) / flags.rate;
    let profiler = Profiler::start(process, Sampling::Every(flags.event, interval), flags.output.seconds)?;
    let watched = stopping.wait(process, flags.output.seconds, flags.output.seconds, || true);
    let recording = profiler.stop()?;
    answer.skips.extend(recording.broken);
    let mut tree = Tree::default();
    for sample in &recording.samples {
        let groups = groups(flags, &sample.thread, &sample.state);
        tree.add(groups.iter().chain(sample.frames.iter()), sample.value);
    }
    Ok(Seen { watched, tree, samples: recording.samples.len(), asked: None })
}

fn look_at_any(flags: &FlameFlags, target: &Target, stopping: &mut Stopping, answer: &mut Answer) -> Result<Seen> {
    match flags.event {
        Event::Cpu | Event::Wall => look_at_time(flags, target, stopping, answer),
        Event::Lock => look_at_futexes(flags, target, stopping, answer),
        Event::Alloc => look_at_allocations(flags, target, stopping, answer),
    }
}

/// Threads that run, by a clock that interrupts them; and for wall those that do not, by looking at them as often.
fn look_at_time(flags: &FlameFlags, target: &Target, stopping: &mut Stopping, answer: &mut Answer) -> Result<Seen> {
    let process = &target.process;
    let (mut tree, mut values) = (Tree::default(), 0);
    let mut add = |waited: Waited| {
        let state = if waited.is_queued { "waiting for a processor" } else { "sleeping" };
        tree.add(groups(flags, waited.thread, state).iter().chain(waited.frames), waited.value);
        values += waited.value;
    };
    let mut waiting = (flags.event == Event::Wall).then(|| Waiting::of(process, flags.rate)).transpose()?;
    let mut native = Native::start(process, flags.rate)?;
    target.go()?;
    // Not in the rhythm of the clock that interrupts those that run: while we look, it would always interrupt us.
    let pulse = if waiting.is_some() { (Duration::from_secs(1) / flags.rate).mul_f64(OUT_OF_STEP) } else { PULSE };
    let watched = stopping.wait(process, flags.output.seconds, pulse, || {
        native.collect();
        waiting.iter_mut().for_each(|waiting| waiting.look(&mut add));
        true
    });
    if waiting.as_ref().is_some_and(|waiting| !waiting.sees_registers()) {
        answer.skips.push("callers of some threads that wait: their registers are root's to see".to_owned());
    }
    waiting.into_iter().for_each(|waiting| waiting.finish(&mut add));
    if !native.sees_kernel() {
        answer.skips.push(
            "frames of the kernel: not allowed; run as root, or with /proc/sys/kernel/perf_event_paranoid at 1"
                .to_owned(),
        );
    }
    answer.missing(native.lost(), |n| format!("{n} samples, for which there was no room: take a lower --rate"));
    let samples = native.finish();
    for sample in &samples {
        let groups = groups(flags, &sample.thread, "running");
        tree.add(groups.iter().chain(&sample.frames), 1);
    }
    Ok(Seen { watched, tree, samples: samples.len() + values as usize, asked: None })
}

/// Stacks that ask for memory, by bytes.
fn look_at_allocations(
    flags: &FlameFlags,
    target: &Target,
    stopping: &mut Stopping,
    answer: &mut Answer,
) -> Result<Seen> {
    let process = &target.process;
    let mut stacks = StackEvents::of(process)?;
    let mut at_work = Allocations::start(process, &stacks)?;
    eprintln!("WARNING each call of malloc costs the process some microseconds while it is looked at");
    target.go()?;
    let begun = Instant::now();
    let (mut seen, mut threads) = (Vec::new(), HashMap::new());
    let mut failed = Ok(());
    let mut take = |at_work: &mut Allocations, stacks: &mut StackEvents| {
        for allocation in at_work.collect() {
            threads.entry(allocation.tid).or_insert_with(|| stacks.thread(allocation.tid));
            seen.push(allocation);
        }
        stacks.collect();
        failed = at_work.keep_up(begun.elapsed().as_secs_f64());
        failed.is_ok()
    };
    let watched = stopping.wait(process, flags.output.seconds, PULSE, || take(&mut at_work, &mut stacks));
    at_work.detach();
    take(&mut at_work, &mut stacks);
    failed?;
    let (calls, bytes) = at_work.totals();
    answer.notes.push(format!("In all {calls} calls have asked for {}.", answer::bytes(bytes)));
    let lost = at_work.account().lost + stacks.lost();
    answer.missing(lost, |n| format!("{n} allocations, for which there was no room"));
    let stacks = stacks.stacks();
    let (mut tree, mut samples) = (Tree::default(), 0);
    for allocation in &seen {
        let Some(frames) = stacks.get(&(allocation.tid, allocation.stack)) else { continue };
        let thread = threads.get(&allocation.tid).map_or("", |thread| thread);
        tree.add(groups(flags, thread, "").iter().chain(&**frames), allocation.bytes);
        samples += 1;
    }
    Ok(Seen { watched, tree, samples, asked: Some((calls, bytes)) })
}

/// Stacks that wait for locks, by nanoseconds.
fn look_at_futexes(flags: &FlameFlags, target: &Target, stopping: &mut Stopping, answer: &mut Answer) -> Result<Seen> {
    target.go()?;
    let look = Look { process: &target.process, is_jvm: false, time: flags.output.seconds };
    let (locks, watched) = locks::look(look, stopping, answer)?;
    let (mut tree, mut samples) = (Tree::default(), 0);
    for lock in locks.iter().filter(|lock| lock.kind.is_contention()) {
        samples += lock.contentions as usize;
        tree.join(&[], &lock.waiting);
    }
    Ok(Seen { watched, tree, samples, asked: None })
}

/// What stands above the frames of a sample.
fn groups(flags: &FlameFlags, thread: &str, state: &str) -> Vec<Frame> {
    let group = |name: &str| Frame { name: name.into(), kind: Kind::Group };
    let thread = flags.threads.then(|| group(thread));
    let state = (flags.states && !state.is_empty()).then(|| group(state));
    thread.into_iter().chain(state).collect()
}

/// What is measured.
fn measure(event: Event) -> &'static str {
    match event {
        Event::Cpu => "processor time",
        Event::Wall => "time of all threads",
        Event::Alloc => "bytes allocated",
        Event::Lock => "time of waiting for locks",
    }
}

/// A value in its unit.
fn amount(flags: &FlameFlags, value: u64) -> String {
    match flags.event {
        Event::Cpu | Event::Wall => format!("{:.2} s", value as f64 / f64::from(flags.rate)),
        Event::Alloc => answer::bytes(value),
        Event::Lock => answer::time(value),
    }
}

/// What a second is in values; 0: they are no times.
fn per_second(flags: &FlameFlags) -> f64 {
    match flags.event {
        Event::Cpu | Event::Wall => f64::from(flags.rate),
        Event::Alloc => 0.0,
        Event::Lock => 1e9,
    }
}

fn tell(flags: &FlameFlags, answer: &mut Answer, tree: Tree, old: Option<Tree>, samples: usize) {
    answer.lead = format!("{}: {} by {samples} samples", measure(flags.event), amount(flags, tree.total()));
    if samples == 0 {
        answer.notes.push("Nothing was seen: nothing of the kind has happened in this time.".to_owned());
    }
    if let Some(old) = &old {
        let share = |share: f64| format!("{:.1} %", share * 100.0);
        let rows = tree.changes_since(old).into_iter().map(|change| {
            let points = format!("{:+.1}", (change.now - change.then) * 100.0);
            vec![share(change.then), share(change.now), points, change.name.to_string()]
        });
        answer.tables.push(Table {
            title: "What has changed: own shares of all".to_owned(),
            columns: vec![("then", true), ("now", true), ("points", true), ("frame", false)],
            rows: rows.collect(),
            shown: HOTTEST,
        });
    }
    let rows = tree.hottest().into_iter().map(|hot| {
        let share = |value: u64| answer::percent(value, tree.total());
        let kind = hot.frame.kind.name().to_owned();
        vec![share(hot.own), share(hot.total), amount(flags, hot.own), kind, hot.frame.name.to_string()]
    });
    answer.tables.push(Table {
        title: "The dearest frames, by what was spent in themselves".to_owned(),
        columns: vec![("own", true), ("total", true), ("own", true), ("kind", false), ("frame", false)],
        rows: rows.collect(),
        shown: if old.is_some() { 0 } else { HOTTEST },
    });
    answer.graph = Some(Graph { title: "Who called whom".to_owned(), tree, old, per_second: per_second(flags) });
}
