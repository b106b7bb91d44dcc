//! `yunti observe flame`: one flame graph from Java methods to the kernel.

mod at;
mod event;

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use clap::Args;
use serde_json::{Value, json};
use yunti_base::{Code, Error, Result};
use yunti_program::failure::Outcome;

use super::{Measurement, locks};
use crate::jvm::HELD;
use crate::jvm::{self, Event, Profiler, Sampling};
use crate::profile::{self, Clock, ClockRates, Stack};
use crate::runtime::node;
use event::FlameEvent;
use yunti_probe::answer::{self, Answer, Graph, Table};
use yunti_probe::kernel::{Allocations, StackEvents};
use yunti_probe::options::{OutputFlags, TargetFlags};
use yunti_probe::stack::{Frame, Kind, Tree};
use yunti_probe::stopping::{PULSE, Stopping, Watched};
use yunti_probe::target::{Process, Target};

/// Draw one flame graph of Java, the JVM's own code, native libraries and the kernel
///
/// Samples stacks of threads that run, wait, allocate, or wait for locks. The HTML page can be searched and zoomed.
#[derive(Debug, Args)]
pub struct FlameFlags {
    #[command(flatten)]
    target: TargetFlags,
    #[command(flatten)]
    pub output: OutputFlags,
    /// Sample this event: time (cpu, wall), allocations, waits for locks, or what the kernel or the processor counts
    #[arg(short, long, default_value = "cpu", value_parser = event::parser())]
    event: FlameEvent,
    /// Take HZ samples per second of each thread; where events are counted, at most HZ of a processor
    #[arg(long, value_name = "HZ", default_value = "99", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    rate: u32,
    /// Draw a graph per thread
    #[arg(long)]
    threads: bool,
    /// Draw a graph per state: running, sleeping; outside a JVM also waiting for a processor
    #[arg(long)]
    states: bool,
    /// Compare with an earlier output of --json
    #[arg(long, value_name = "OLD.json")]
    diff: Option<PathBuf>,
    /// Draw recorded slices of this time: "03:10", "yesterday 03:10", 2026-11-27, -2h, "03:00..03:20"
    #[arg(long, value_name = "WHEN", allow_hyphen_values = true, conflicts_with_all = ["pid", "start", "diff", "threads", "states"])]
    at: Option<String>,
    /// Compare with recorded slices of this time; a day means the same time of that day
    #[arg(long, value_name = "WHEN", allow_hyphen_values = true, requires = "at")]
    against: Option<String>,
    /// Read slices from this folder, from ssh://host/path, or from one file of another tool
    #[arg(long, value_name = "STORE", conflicts_with_all = ["pid", "start", "diff"])]
    store: Option<String>,
    /// Open no inspector in a Node.js process, whose JavaScript has no names then
    #[arg(long)]
    no_inspector: bool,
}

/// Frames shown on a terminal.
const HOTTEST: usize = 20;

pub fn flame(flags: &FlameFlags) -> Outcome {
    if flags.at.is_some() || flags.store.is_some() {
        return at::flame(flags);
    }
    let mut stopping = Stopping::new()?;
    // First, so that a wrong file fails before the measurement.
    let old = flags.diff.as_deref().map(earlier).transpose()?;
    let target = flags.target.find(HELD)?;
    let mut answer = Answer::new("flame", &target.process);
    if let FlameEvent::Counted(counted) = flags.event {
        counted.must_be_here()?;
    }
    let results = if jvm::recognise(&target)? {
        sample_jvm(flags, &target.process, &mut stopping, &mut answer)?
    } else {
        sample_native(flags, &target, &mut stopping, &mut answer)?
    };
    answer.watched(&results.watched);
    render(flags, &mut answer, results.tree, old, results.samples);
    let facts = json!({
        "event": flags.event.name(),
        "rate_hz": flags.rate,
        "samples": results.samples,
        "calls": results.allocated.map(|(calls, _)| calls),
        "bytes": results.allocated.map(|(_, bytes)| bytes),
    });
    answer.give(&flags.output.answer, results.watched.end, facts)
}

struct FlameResults {
    watched: Watched,
    tree: Tree,
    samples: usize,
    /// Calls of malloc and their bytes, sampled or not.
    allocated: Option<(u64, u64)>,
}

fn earlier(path: &Path) -> Result<Tree> {
    let failed = |what: &str| {
        Error::new(Code::Input, what.to_owned())
            .at_path(path.to_string_lossy())
            .hint("give a file that `yunti observe flame --json` printed")
    };
    let text = fs::read_to_string(path)
        .map_err(|e| Error::io(Code::Input, "cannot read the earlier output", &e).at_path(path.to_string_lossy()))?;
    let json: Value = serde_json::from_str(&text).map_err(|e| failed(&format!("not JSON: {e}")))?;
    Tree::from_json(&json["tree"]).ok_or_else(|| failed("has no flame graph"))
}

fn sample_jvm(
    flags: &FlameFlags,
    process: &Process,
    stopping: &mut Stopping,
    answer: &mut Answer,
) -> Result<FlameResults> {
    let interval = Duration::from_secs(1) / flags.rate;
    let (sampling, worth) = match flags.event {
        FlameEvent::Sampled(event) => (Sampling::Every(event, interval), 1),
        FlameEvent::Counted(event) => {
            (Sampling::Counted { event: event.name(), period: event.period() }, event.period())
        }
    };
    let profiler = Profiler::start(process, sampling, flags.output.seconds)?;
    let watched = stopping.wait(process, flags.output.seconds, flags.output.seconds, || true);
    let recording = profiler.stop()?;
    let mut tree = Tree::default();
    for stack in profile::of_recording(&recording) {
        tree.add(groups(flags, stack.thread, stack.state).iter().chain(stack.frames), stack.value * worth);
    }
    answer.skips.extend(recording.broken);
    Ok(FlameResults { watched, tree, samples: recording.samples.len(), allocated: None })
}

fn sample_native(
    flags: &FlameFlags,
    target: &Target,
    stopping: &mut Stopping,
    answer: &mut Answer,
) -> Result<FlameResults> {
    match flags.event {
        FlameEvent::Sampled(Event::Lock) => sample_futexes(flags, target, stopping, answer),
        FlameEvent::Sampled(Event::Alloc) => sample_allocations(flags, target, stopping, answer),
        _ => sample_running(flags, target, stopping, answer),
    }
}

/// Samples running threads, by a clock or by an event. For `wall`, also samples waiting threads at the same rate.
fn sample_running(
    flags: &FlameFlags,
    target: &Target,
    stopping: &mut Stopping,
    answer: &mut Answer,
) -> Result<FlameResults> {
    let (process, time) = (&target.process, flags.output.seconds);
    let counted = match flags.event {
        FlameEvent::Counted(event) => Some(event),
        FlameEvent::Sampled(_) => None,
    };
    let (mut tree, mut samples) = (Tree::default(), 0);
    let mut add = |stack: Stack| {
        tree.add(groups(flags, stack.thread, stack.state).iter().chain(stack.frames), stack.value);
        samples += if counted.is_some() { 1 } else { stack.value as usize };
    };
    let wall_hz = (flags.event == FlameEvent::Sampled(Event::Wall)).then_some(flags.rate);
    let rates = ClockRates { cpu_hz: flags.rate, wall_hz, counted };
    let mut clock = Clock::start(process, rates, time, !flags.no_inspector, &mut answer.skips)?;
    target.go()?;
    let pulse = clock.pulse();
    let watched = stopping.wait(process, time, pulse, || {
        clock.collect(&mut add);
        true
    });
    clock.take(&mut answer.skips, &mut add);
    answer.missing(clock.lost(), |n| format!("{n} samples: the buffer was full; take a lower --rate"));
    if clock.has_opened() {
        answer.notes.push(node::OPENED.to_owned());
    }
    Ok(FlameResults { watched, tree, samples, allocated: None })
}

/// Records stacks of malloc calls, weighted by bytes.
fn sample_allocations(
    flags: &FlameFlags,
    target: &Target,
    stopping: &mut Stopping,
    answer: &mut Answer,
) -> Result<FlameResults> {
    let process = &target.process;
    let mut stacks = StackEvents::of(process)?;
    let mut program = Allocations::start(process, &stacks)?;
    eprintln!("WARNING each call of malloc costs the process some microseconds during the measurement");
    target.go()?;
    let begun = Instant::now();
    let (mut allocations, mut threads) = (Vec::new(), HashMap::new());
    let mut failed = Ok(());
    let mut collect = |program: &mut Allocations, stacks: &mut StackEvents| {
        // First: naming the first stacks takes long enough for thousands of others.
        failed = program.keep_up(begun.elapsed().as_secs_f64());
        for allocation in program.collect() {
            threads.entry(allocation.tid).or_insert_with(|| stacks.thread(allocation.tid));
            allocations.push(allocation);
        }
        stacks.collect();
        failed.is_ok()
    };
    let watched = stopping.wait(process, flags.output.seconds, PULSE, || collect(&mut program, &mut stacks));
    program.detach();
    collect(&mut program, &mut stacks);
    failed?;
    let (calls, bytes) = program.totals();
    answer.notes.push(format!("{calls} calls allocated {} in all.", answer::bytes(bytes)));
    let lost = program.account().lost + stacks.lost();
    answer.missing(lost, |n| format!("{n} allocations: the buffer was full"));
    let stacks = stacks.stacks();
    let (mut tree, mut samples) = (Tree::default(), 0);
    for allocation in &allocations {
        let Some(frames) = stacks.get(&(allocation.tid, allocation.stack)) else { continue };
        let thread = threads.get(&allocation.tid).map_or("", |thread| thread);
        tree.add(groups(flags, thread, "").iter().chain(&**frames), allocation.bytes);
        samples += 1;
    }
    Ok(FlameResults { watched, tree, samples, allocated: Some((calls, bytes)) })
}

/// Records stacks of waits for futexes, weighted by nanoseconds.
fn sample_futexes(
    flags: &FlameFlags,
    target: &Target,
    stopping: &mut Stopping,
    answer: &mut Answer,
) -> Result<FlameResults> {
    target.go()?;
    let measurement = Measurement { process: &target.process, is_jvm: false, time: flags.output.seconds };
    let (locks, watched) = locks::measure(measurement, stopping, answer)?;
    let (mut tree, mut samples) = (Tree::default(), 0);
    for lock in locks.iter().filter(|lock| lock.kind.is_contention()) {
        samples += lock.contentions as usize;
        tree.join(&[], &lock.waiting);
    }
    Ok(FlameResults { watched, tree, samples, allocated: None })
}

/// Returns the group frames above the frames of a sample: thread and state, as the flags request.
fn groups(flags: &FlameFlags, thread: &str, state: &str) -> Vec<Frame> {
    let group = |name: &str| Frame { name: name.into(), kind: Kind::Group };
    let thread = flags.threads.then(|| group(thread));
    let state = (flags.states && !state.is_empty()).then(|| group(state));
    thread.into_iter().chain(state).collect()
}

/// Formats a value in its unit.
fn amount(flags: &FlameFlags, value: u64) -> String {
    match flags.event {
        FlameEvent::Sampled(Event::Cpu | Event::Wall) => format!("{:.2} s", value as f64 / f64::from(flags.rate)),
        FlameEvent::Sampled(Event::Alloc) => answer::bytes(value),
        FlameEvent::Sampled(Event::Lock) => answer::time(value),
        FlameEvent::Counted(_) => answer::count(value),
    }
}

/// Returns the values per second; 0 if the values are not times.
fn per_second(flags: &FlameFlags) -> f64 {
    match flags.event {
        FlameEvent::Sampled(Event::Cpu | Event::Wall) => f64::from(flags.rate),
        FlameEvent::Sampled(Event::Lock) => 1e9,
        FlameEvent::Sampled(Event::Alloc) | FlameEvent::Counted(_) => 0.0,
    }
}

fn render(flags: &FlameFlags, answer: &mut Answer, tree: Tree, old: Option<Tree>, samples: usize) {
    answer.lead = format!("{}: {} in {samples} samples", flags.event.quantity(), amount(flags, tree.total()));
    if samples == 0 {
        answer.notes.push("No such event occurred in this time.".to_owned());
    }
    if let Some(old) = &old {
        let share = |share: f64| format!("{:.1} %", share * 100.0);
        let rows = tree.changes_since(old).into_iter().map(|change| {
            let points = format!("{:+.1}", (change.now - change.then) * 100.0);
            vec![share(change.then), share(change.now), points, change.name.to_string()]
        });
        answer.tables.push(Table {
            title: "Changes of own shares".to_owned(),
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
        title: "Hottest frames, by own share".to_owned(),
        columns: vec![("own", true), ("total", true), ("own", true), ("kind", false), ("frame", false)],
        rows: rows.collect(),
        shown: if old.is_some() { 0 } else { HOTTEST },
    });
    answer.graph =
        Some(Graph { title: "Call graph".to_owned(), tree, old, is_scaled: false, per_second: per_second(flags) });
}
