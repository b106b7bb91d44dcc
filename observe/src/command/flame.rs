//! `yunti observe flame`: where the time goes, as one graph from Java method to kernel.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use serde_json::{Value, json};
use yunti_engine::base::{Code, Error, Result};
use yunti_present::failure::{Failure, Outcome};
use yunti_present::terminal::{paint, stdout, width};
use yunti_present::whole_file;

use super::options::{OutputFlags, TargetFlags};
use super::stopping::{End, Stopping};
use crate::jvm::{self, Event, Profiler};
use crate::native::Native;
use crate::page;
use crate::stack::{Frame, Kind, Tree};
use crate::target::{Process, Target, label};

/// Where the time goes: one graph of Java, the JVM's own code, native libraries and the kernel
///
/// Samples what runs (or waits, allocates, or is held up by locks), and puts the stacks together. A page of it can be searched and
/// zoomed into.
#[derive(Debug, Args)]
pub struct FlameFlags {
    #[command(flatten)]
    target: TargetFlags,
    #[command(flatten)]
    output: OutputFlags,
    /// What is sampled
    #[arg(short, long, value_enum, default_value = "cpu")]
    event: Event,
    /// Samples a second of each thread, of cpu and wall
    #[arg(long, value_name = "HZ", default_value = "99", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    rate: u32,
    /// A graph of each thread
    #[arg(long)]
    threads: bool,
    /// A graph of each state: running, sleeping
    #[arg(long)]
    states: bool,
    /// Compare with an earlier answer, which --json has given
    #[arg(long, value_name = "OLD.json")]
    diff: Option<PathBuf>,
}

/// Frames that are told on the terminal.
const HOTTEST: usize = 20;

/// What was seen.
pub struct Seen {
    pub tree: Tree,
    /// What it is compared with.
    pub old: Option<Tree>,
    pub process: String,
    pub pid: u32,
    pub event: Event,
    pub rate: u32,
    pub time: Duration,
    pub samples: usize,
    pub end: End,
    pub skips: Vec<String>,
    /// Processor time that looking has cost, in this process, in percent of one processor.
    pub overhead_percent: f64,
}

pub fn flame(flags: &FlameFlags) -> Outcome {
    let mut stopping = Stopping::new()?;
    // Before anything is looked at: what cannot be compared is said at once.
    let old = flags.diff.as_deref().map(earlier).transpose()?;
    let target = Target::find(flags.target.pid, flags.target.name.as_deref(), &flags.target.start)?;
    let mut seen = look(flags, &target, &mut stopping)?;
    seen.old = old;
    if let Some(path) = &flags.output.output {
        whole_file::write(path, &page::flame(&seen), "the page")?;
    }
    if flags.output.json {
        stdout::print_json(&as_json(&seen))?
    } else {
        stdout::print(&as_text(&seen))?
    }
    match seen.end {
        End::Interrupted => Err(Failure::Told(Code::Cancelled)),
        End::TimeOver | End::TargetGone => Ok(()),
    }
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

/// How often rings of samples are emptied.
const PULSE: Duration = Duration::from_millis(20);

fn look(flags: &FlameFlags, target: &Target, stopping: &mut Stopping) -> Result<Seen> {
    let process = &target.process;
    let mut seen = Seen {
        tree: Tree::default(),
        old: None,
        process: label(process),
        pid: process.pid,
        event: flags.event,
        rate: flags.rate,
        time: Duration::ZERO,
        samples: 0,
        end: End::TimeOver,
        skips: Vec::new(),
        overhead_percent: 0.0,
    };
    if jvm::recognise(process, target.is_ours())? {
        look_into_jvm(flags, process, stopping, &mut seen)?;
    } else {
        look_at_any(flags, process, stopping, &mut seen)?;
    }
    seen.overhead_percent = own_cpu_seconds() / seen.time.as_secs_f64().max(0.001) * 100.0;
    Ok(seen)
}

fn look_into_jvm(flags: &FlameFlags, process: &Process, stopping: &mut Stopping, seen: &mut Seen) -> Result<()> {
    let interval = Duration::from_secs(1) / flags.rate;
    let profiler = Profiler::start(process, flags.event, interval, flags.output.seconds)?;
    (seen.end, seen.time) = stopping.wait(process, flags.output.seconds, flags.output.seconds, || {});
    let recording = profiler.stop()?;
    seen.skips.extend(recording.broken.iter().map(|reason| format!("the end of the recording: {reason}")));
    seen.samples = recording.samples.len();
    for sample in &recording.samples {
        let groups = groups(flags, &sample.thread, &sample.state);
        seen.tree.add(groups.iter().chain(sample.frames.iter()), sample.value);
    }
    Ok(())
}

fn look_at_any(flags: &FlameFlags, process: &Process, stopping: &mut Stopping, seen: &mut Seen) -> Result<()> {
    if flags.event != Event::Cpu {
        let error = Error::new(
            Code::Usage,
            format!("process {} ({}) is no JVM, and of others only cpu is sampled", process.pid, process.name),
        );
        return Err(error.hint("leave --event away"));
    }
    let mut native = Native::start(process, flags.rate)?;
    (seen.end, seen.time) = stopping.wait(process, flags.output.seconds, PULSE, || native.collect());
    if !native.sees_kernel() {
        seen.skips.push(
            "frames of the kernel: not allowed; run as root, or with /proc/sys/kernel/perf_event_paranoid at 1"
                .to_owned(),
        );
    }
    if native.lost() > 0 {
        seen.skips.push(format!("{} samples, for which there was no room: take a lower --rate", native.lost()));
    }
    let samples = native.finish();
    seen.samples = samples.len();
    for sample in &samples {
        let groups = groups(flags, &sample.thread, "running");
        seen.tree.add(groups.iter().chain(&sample.frames), 1);
    }
    Ok(())
}

/// What stands above the frames of a sample.
fn groups(flags: &FlameFlags, thread: &str, state: &str) -> Vec<Frame> {
    let group = |name: &str| Frame { name: name.into(), kind: Kind::Group };
    let thread = flags.threads.then(|| group(thread));
    let state = (flags.states && !state.is_empty()).then(|| group(state));
    thread.into_iter().chain(state).collect()
}

fn own_cpu_seconds() -> f64 {
    Process::of(std::process::id()).ok().and_then(|me| me.cpu_seconds()).unwrap_or(0.0)
}

impl Seen {
    /// What is measured.
    pub fn measure(&self) -> &'static str {
        match self.event {
            Event::Cpu => "processor time",
            Event::Wall => "time of all threads",
            Event::Alloc => "bytes allocated",
            Event::Lock => "time of waiting for locks",
        }
    }

    /// A value in its unit.
    pub fn amount(&self, value: u64) -> String {
        match self.event {
            Event::Cpu | Event::Wall => format!("{:.2} s", value as f64 / f64::from(self.rate)),
            Event::Alloc => format!("{:.1} MB", value as f64 / 1e6),
            Event::Lock => format!("{:.1} ms", value as f64 / 1e6),
        }
    }
}

fn as_text(seen: &Seen) -> String {
    let paint = paint::for_stdout();
    let all = seen.tree.total().max(1) as f64;
    let mut text = format!(
        "{} {}, {}: {} in {:.1} s, {} samples; looking took {:.1} % of a processor\n",
        seen.process,
        seen.pid,
        seen.measure(),
        seen.amount(seen.tree.total()),
        seen.time.as_secs_f64(),
        seen.samples,
        seen.overhead_percent
    );
    for skip in &seen.skips {
        text += &format!("SKIP {skip}\n");
    }
    if seen.end == End::TargetGone {
        text += "The process has ended; this is what it did until then.\n";
    }
    if seen.samples == 0 {
        return text + "Nothing was seen: nothing of the kind has happened in this time.\n";
    }
    if let Some(old) = &seen.old {
        text += &paint.dim("\n   then      now  frame, by what its own share has changed\n");
        for change in seen.tree.changes_since(old).iter().take(HOTTEST) {
            let name: String = change.name.chars().take(width().saturating_sub(20)).collect();
            text += &format!("{:6.1} % {:6.1} %  {name}\n", change.then * 100.0, change.now * 100.0);
        }
        return text;
    }
    text += &paint.dim("\n   own   total  kind         frame\n");
    for hot in seen.tree.hottest().iter().take(HOTTEST) {
        let name: String = hot.frame.name.chars().take(width().saturating_sub(31)).collect();
        let percent = |value: u64| format!("{:5.1} %", value as f64 / all * 100.0);
        text += &format!("{} {}  {:<11}  {}\n", percent(hot.own), percent(hot.total), hot.frame.kind.name(), name);
    }
    text
}

fn as_json(seen: &Seen) -> Value {
    json!({
        "command": "flame",
        "pid": seen.pid,
        "process": seen.process,
        "event": clap::ValueEnum::to_possible_value(&seen.event).map(|v| v.get_name().to_owned()),
        "rate_hz": seen.rate,
        "seconds": seen.time.as_secs_f64(),
        "samples": seen.samples,
        "target_ended": seen.end == End::TargetGone,
        "skipped": seen.skips,
        "overhead_percent": seen.overhead_percent,
        "kinds": crate::stack::KINDS.map(|kind| kind.name()),
        "tree": seen.tree.to_json(seen.old.as_ref()),
    })
}
