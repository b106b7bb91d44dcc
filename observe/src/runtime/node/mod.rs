//! Node.js: stacks of JavaScript by V8's own profiler, and the state of its loop and heap, over its inspector.
//!
//! Native stacks of a Node.js process show code of a JIT compiler without names. A perf map names it, if the program
//! was started with `--perf-basic-prof`. Otherwise the inspector is opened for the measurement.
//!
//! ```text
//!   inspector.rs    opened by SIGUSR1, and closed again
//!   late.rs         closes one that opens after the measurement
//!   own_handler.rs  whether the program itself catches that signal
//!   session.rs      calls of the Chrome DevTools Protocol
//!   websocket.rs    the connection below them
//!   look.rs         the measurement, in a thread of its own
//!   profile.rs      V8's profile, joined with native stacks
//!   perf_map.rs     names of a perf map
//! ```

mod inspector;
mod late;
mod look;
mod own_handler;
mod perf_map;
pub mod profile;
mod session;
mod websocket;

use std::collections::HashMap;
use std::rc::Rc;
use std::time::Duration;

use super::event_loop::{EventLoop, LoopProfile, ScriptHeap, SyncCall};
use super::{Runtime, Sighting};
use look::{Look, Results};
use profile::{Profile, State, V8Sample};
use yunti_probe::code::address_of;
use yunti_probe::native::NativeSample;
use yunti_probe::stack::{Frame, Kind};
use yunti_probe::target::{Process, arguments};

/// Microseconds for which a stack of the profile counts, where there are no native ones.
const PERIOD_US: u64 = 10_000;
/// Share of the time from which on a synchronous call is kept.
const SYNC_MIN: f64 = 0.01;

/// Node.js process under measurement.
pub struct Node {
    tid: u32,
    look: Option<Look>,
    profile: Profile,
    event_loop: EventLoop,
    has_joined: bool,
}

/// Closes the inspector of a process when it opens, after a measurement.
pub fn close_late(process: &Process) {
    late::repeat(process, inspector::close_if_open);
}

/// Begins to measure a process if it is one of Node.js.
///
/// @param may_open false if no inspector may be opened
pub fn of(process: &Process, time: Duration, may_open: bool, skips: &mut Vec<String>) -> Option<Node> {
    if !is_node(process) {
        return None;
    }
    let look = if perf_map::is_written(process) {
        None
    } else if may_open {
        Some(Look::start(process, time))
    } else {
        skips.push(format!("{STACKS}: --no-inspector"));
        None
    };
    let event_loop = EventLoop { runtime: "Node.js".to_owned(), tid: process.pid, ..EventLoop::default() };
    Some(Node { tid: process.pid, look, profile: Profile::default(), event_loop, has_joined: false })
}

/// Note of an answer.
pub const OPENED: &str = "The inspector of Node.js was opened for the measurement and is closed again; the process \
                          prints that on its standard error.";
const STACKS: &str = "stacks of JavaScript";

/// Returns true for a process of Node.js, by its executable or library. Programs that carry V8 for other uses have
/// neither.
pub fn is_node(process: &Process) -> bool {
    let file = |path: &str| path.rsplit('/').next().unwrap_or_default().to_owned();
    let is_named = |name: &str| name == "node" || name == "nodejs" || name.starts_with("node-v");
    let program = process.executable().map(|path| file(&path.to_string_lossy()));
    program.as_deref().is_some_and(is_named)
        || arguments(process.pid).first().is_some_and(|word| is_named(&file(word)) && process.handles(SIGUSR1))
        || is_built_of_node(process)
        || process.mapped_files().is_ok_and(|files| files.iter().any(|path| file(path).starts_with("libnode.so")))
}

/// Function that starts Node.js, in a program of another name that is built of it.
const START: &str = "_ZN4node5StartEiPPc";
/// Bytes of a program below which it contains no Node.js.
const PROGRAM_BYTES_MIN: u64 = 30 << 20;

fn is_built_of_node(process: &Process) -> bool {
    let program = format!("/proc/{}/exe", process.pid);
    process.handles(SIGUSR1)
        && std::fs::metadata(program).is_ok_and(|file| file.len() >= PROGRAM_BYTES_MIN)
        && process.executable().is_some_and(|path| {
            let path = path.to_string_lossy();
            address_of(process, START, |file| file == path).is_some()
        })
}

const SIGUSR1: u32 = 10;

impl Runtime for Node {
    fn name(&self) -> &str {
        &self.event_loop.runtime
    }

    /// Takes nothing: the loop is a thread, which is sampled as one.
    fn sample(&mut self, _take: &mut dyn FnMut(Sighting, u64)) {}

    fn has_units(&self) -> bool {
        false
    }

    fn join(&mut self, native: &mut [NativeSample], skips: &mut Vec<String>) {
        match self.look.take().map(Look::finish) {
            Some(Ok(results)) => {
                if let Some(reason) = &results.left {
                    skips.push(format!("closing the inspector: {reason}; it closes by itself soon"));
                }
                self.profile = Profile::of(&results.profile);
                self.event_loop = event_loop(self.tid, &self.profile, &results);
                self.profile.join(self.tid, native);
            }
            Some(Err(reason)) => skips.push(format!("{STACKS}: {reason}")),
            None => {}
        }
        for frame in native.iter_mut().flat_map(|sample| &mut sample.frames).filter(|frame| frame.kind == Kind::Native)
        {
            if let Some(named) = perf_map::frame(&frame.name) {
                *frame = named;
            }
        }
        self.has_joined = !native.is_empty();
    }

    fn finish(&mut self) -> Vec<(Rc<[Frame]>, u64)> {
        if self.has_joined { Vec::new() } else { self.profile.stacks(PERIOD_US) }
    }

    fn event_loop(&mut self) -> Option<EventLoop> {
        Some(self.event_loop.clone())
    }
}

fn event_loop(tid: u32, profile: &Profile, results: &Results) -> EventLoop {
    let version = results.begin["version"].as_str().unwrap_or_default().trim_start_matches('v').to_owned();
    let passed = |key: &str| Some(results.end[key].as_f64()? - results.begin[key].as_f64()?);
    let utilisation = passed("active").zip(passed("idle")).filter(|(active, idle)| active + idle > 0.0);
    let number = |key: &str| results.end[key].as_f64().unwrap_or(0.0);
    let used = || results.used.iter().copied();
    EventLoop {
        runtime: format!("Node.js {version}").trim_end().to_owned(),
        tid,
        was_opened: results.was_opened,
        profile: Some(LoopProfile {
            utilisation: utilisation.map(|(active, idle)| active / (active + idle)),
            collecting: profile.share(|v8| v8.state == State::Collecting),
            stall_ms_max: profile.longest_us(|v8| matches!(v8.state, State::JavaScript | State::Collecting)) as f64
                / 1e3,
            sync_calls: sync_calls(profile),
            heap: (!results.used.is_empty()).then(|| ScriptHeap {
                used_min: used().fold(f64::INFINITY, f64::min),
                used_max: used().fold(0.0, f64::max),
                limit: number("limit"),
                contexts: number("contexts"),
            }),
        }),
    }
}

/// Returns the synchronous calls of Node.js's library, by the time that they take: on a processor or not.
fn sync_calls(profile: &Profile) -> Vec<SyncCall> {
    let mut found: HashMap<(Rc<str>, Rc<str>), ()> = HashMap::new();
    for sample in &profile.samples {
        if let Some(call) = sync_call(sample) {
            found.insert(call, ());
        }
    }
    let of = |(name, caller): (Rc<str>, Rc<str>)| {
        let is_it = |v8: &V8Sample| sync_call(v8).is_some_and(|(n, c)| n == name && c == caller);
        let (share, longest_ms) = (profile.share(is_it), profile.longest_us(is_it) as f64 / 1e3);
        SyncCall { name, caller, share, longest_ms }
    };
    let mut calls: Vec<SyncCall> = found.into_keys().map(of).filter(|call| call.share >= SYNC_MIN).collect();
    calls.sort_by(|a, b| b.share.total_cmp(&a.share).then_with(|| a.name.cmp(&b.name)));
    calls
}

/// Returns the outermost synchronous call of the library in a stack, and the function of the program that calls it.
fn sync_call(sample: &V8Sample) -> Option<(Rc<str>, Rc<str>)> {
    let frames = &sample.frames;
    let is_of_node = |frame: &Frame| frame.name.contains(" node:");
    let at = frames.iter().position(|frame| {
        let name = frame.name.split(' ').next().unwrap_or_default();
        is_of_node(frame) && name.ends_with("Sync") && name != "Sync"
    })?;
    let caller = frames[..at].iter().rfind(|frame| frame.kind == Kind::JavaScript && !is_of_node(frame))?;
    let name = frames[at].name.split(' ').next().unwrap_or_default();
    Some((name.into(), caller.name.clone()))
}
