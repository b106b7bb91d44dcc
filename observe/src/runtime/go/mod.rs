//! Go: goroutines of a running process, read from outside. Nothing is stopped, and nothing is loaded into the process.
//!
//! ```text
//!   globals.rs    variables of the runtime, by symbols or by what they hold
//!   layout.rs     offsets of fields by version
//!   goroutine.rs  state of each goroutine
//!   stacks.rs     stacks of goroutines that do not run
//!   waits.rs      kind of a wait, by its reason and stack
//!   polling.rs    descriptor that a goroutine waits at
//!   facts.rs      collector and scheduler
//!   packages.rs   Go's own library
//! ```
//!
//! A goroutine that has not run since the last reading costs a part of one read: its structure has a counter. A
//! goroutine that runs has no saved position; the samples of processors have it.

mod facts;
mod globals;
mod goroutine;
mod layout;
mod packages;
mod polling;
mod stacks;
mod waits;

use std::collections::HashMap;
use std::rc::Rc;
use std::time::{Duration, Instant};

use self::facts::CollectorSampler;
pub use self::facts::GoFacts;
use self::globals::{Globals, Slice};
use self::goroutine::{Goroutine, Status};
pub use self::packages::is_of_library;
use self::polling::Polled;
use self::stacks::{Copy, HELD_BY_COLLECTOR, Stacks};
use super::{Runtime, Sighting, Waiting};
use yunti_probe::code::{GoProgram, is_go};
use yunti_probe::stack::Frame;
use yunti_probe::target::{Activity, ActivitySampler, Process};

/// Goroutines a round. Of more, each round reads a part, which counts for the rest.
const UNITS_MIN: u64 = 250;
const UNITS_MAX: u64 = 2000;
/// Time between two calls of `sample`.
const CALL_EVERY: Duration = Duration::from_millis(25);
/// Share of one processor that the readings may take.
const COST_MAX: f64 = 0.01;
/// Calls to one reading at most.
const CALLS_MAX: u64 = 8;
/// Readings of all goroutines after which one that was not seen again is forgotten.
const KNOWN_LAPS: u64 = 4;
/// Threads in system calls that are looked up in a round.
const CALLERS_MAX: usize = 64;
/// Time between two attempts to find the variables of a program that has just begun.
const TRY_EVERY: Duration = Duration::from_millis(250);
const TRIES_MAX: u32 = 40;

/// Reader of a Go program.
pub struct Go {
    process: Process,
    name: String,
    state: State,
    activities: ActivitySampler,
    /// Threads by their numbers within the process's namespace.
    threads: HashMap<u64, u32>,
    known: HashMap<u64, Known>,
    collector: CollectorSampler,
    /// Sums of goroutines over rounds, with the calls that each round stands for.
    facts: GoFacts,
    calls: u64,
    /// Calls since the last round.
    pending: u64,
    /// Calls from one round to the next, and goroutines that a round reads.
    every: u64,
    units: u64,
    /// First goroutine of the next round.
    next: u64,
    rounds: u64,
    /// Sightings at peers, by calls.
    peers: HashMap<String, f64>,
}

enum State {
    /// The program has not begun yet.
    Waiting {
        tries: u32,
        last: Instant,
    },
    Ready {
        program: Box<GoProgram>,
        globals: Box<Globals>,
        stacks: Box<Stacks>,
    },
    Ended,
}

/// Goroutine as it was read last.
struct Known {
    number: u64,
    stops: u8,
    sp: u64,
    pc: u64,
    reason: u8,
    round: u64,
    waiting: Waiting,
    frames: Rc<[Frame]>,
    peer: Option<Rc<str>>,
}

/// Returns the reader of a Go program; `None` if the process runs another one.
pub fn of(process: &Process, skips: &mut Vec<String>) -> Option<Go> {
    if !is_go(process) {
        return None;
    }
    match open(process) {
        Ok(None) => None,
        Ok(Some((name, state))) => Some(Go::new(process, name, state)),
        Err(reason) => {
            skips.push(format!("goroutines: {reason}"));
            None
        }
    }
}

/// Opens the program. Fails with a reason if it is Go's, and cannot be read.
fn open(process: &Process) -> Result<Option<(String, State)>, String> {
    let Some(program) = GoProgram::of(process, &globals::SYMBOLS)? else { return Ok(None) };
    let name = match program.version.strip_prefix("go") {
        Some(version) => format!("Go {version}"),
        None => format!("Go {}", program.version).trim_end().to_owned(),
    };
    if program.minor != 0 && program.minor < 18 {
        return Err(format!("{name} is older than Go 1.18"));
    }
    let Some(globals) = Globals::of(&program) else {
        return Ok(Some((name, State::Waiting { tries: 0, last: Instant::now() })));
    };
    let functions = program.functions().ok_or("its table of functions cannot be read")?;
    let stacks = Box::new(Stacks::new(functions));
    Ok(Some((name, State::Ready { program: Box::new(program), globals: Box::new(globals), stacks })))
}

impl Runtime for Go {
    fn name(&self) -> &str {
        &self.name
    }

    fn sample(&mut self, take: &mut dyn FnMut(Sighting, u64)) {
        self.calls += 1;
        self.pending += 1;
        self.keep_trying();
        if self.pending < self.every {
            return;
        }
        let begin = used();
        let calls = self.pending;
        let State::Ready { program, globals, .. } = &self.state else { return };
        let Some(all) = Slice::read(program, globals.goroutines) else { return };
        self.pending = 0;
        self.rounds += 1;
        self.collector.sample(program, globals);
        self.facts.processors = facts::processors(program, globals).or(self.facts.processors);
        let range = self.next_range(all.length);
        // A range stands for all goroutines, and for the calls without a reading.
        let weight = (calls as f64 * all.length as f64 / (range.end - range.start) as f64).round() as u64;
        let State::Ready { program, globals, stacks } = &mut self.state else { return };
        let found = goroutine::read(program, &globals.layout, goroutine::addresses(program, all.begin, range));
        let mut round = Round {
            program,
            globals,
            stacks,
            activities: &mut self.activities,
            process: &self.process,
            threads: &mut self.threads,
            known: &mut self.known,
            number: self.rounds,
            callers: 0,
        };
        for goroutine in found.iter().filter(|goroutine| goroutine.status != Status::Free) {
            let start = round.stacks.start(goroutine.start);
            if start.is_of_runtime {
                continue;
            }
            let (waiting, frames, peer) = round.sighting(goroutine);
            self.facts.goroutines += weight as f64;
            match goroutine.status {
                Status::Runnable | Status::Held => self.facts.runnable += weight as f64,
                Status::Running => self.facts.running += weight as f64,
                _ if frames.last().is_some_and(|frame| &*frame.name == HELD_BY_COLLECTOR) => {
                    self.facts.held_by_collector += weight as f64;
                }
                _ => {}
            }
            if let Some(peer) = peer.filter(|_| waiting != Waiting::Idle) {
                *self.peers.entry(peer.to_string()).or_default() += weight as f64;
            }
            take(Sighting { unit: goroutine.number, name: start.name, waiting, frames }, weight);
        }
        // Structures of goroutines are reused, and never given back.
        let oldest = self.rounds.saturating_sub(KNOWN_LAPS * all.length.div_ceil(self.units));
        self.known.retain(|_, known| known.round >= oldest);
        self.pace(used() - begin);
    }

    fn go_facts(&self) -> Option<GoFacts> {
        let calls = (self.calls - self.pending).max(1) as f64;
        let mut facts = self.facts.clone();
        for sum in [&mut facts.goroutines, &mut facts.runnable, &mut facts.running, &mut facts.held_by_collector] {
            *sum /= calls;
        }
        self.collector.finish(&mut facts);
        (self.rounds > 0).then_some(facts)
    }

    fn peers(&self) -> Vec<(String, f64)> {
        let calls = (self.calls - self.pending).max(1) as f64;
        self.peers.iter().map(|(peer, sum)| (peer.clone(), sum / calls)).collect()
    }
}

impl Go {
    fn new(process: &Process, name: String, state: State) -> Go {
        let version = name.replace("Go ", "go");
        Go {
            process: process.clone(),
            name,
            state,
            activities: ActivitySampler::new(process),
            threads: HashMap::new(),
            known: HashMap::new(),
            collector: CollectorSampler::default(),
            facts: GoFacts { version, ..GoFacts::default() },
            calls: 0,
            pending: 0,
            every: 1,
            units: UNITS_MAX,
            next: 0,
            rounds: 0,
            peers: HashMap::new(),
        }
    }

    /// Looks for the variables of a program that has just begun.
    fn keep_trying(&mut self) {
        let State::Waiting { tries, last } = &mut self.state else { return };
        if *tries > 0 && last.elapsed() < TRY_EVERY {
            return;
        }
        let tries = *tries + 1;
        self.state = match open(&self.process) {
            Ok(Some((_, State::Waiting { .. }))) if tries < TRIES_MAX => State::Waiting { tries, last: Instant::now() },
            Ok(Some((_, ready @ State::Ready { .. }))) => ready,
            _ => State::Ended,
        };
    }

    /// Returns the goroutines that the next round reads, of a number of them.
    fn next_range(&mut self, length: u64) -> std::ops::Range<u64> {
        let size = length.div_ceil(length.div_ceil(self.units).max(1)).max(1);
        let begin = if self.next < length { self.next } else { 0 };
        // A short rest would stand for all.
        let end = if length - begin < size * 3 / 2 { length } else { begin + size };
        self.next = end;
        begin..end
    }

    /// Chooses the time to the next round, and its size, by the cost of this one. The first one names most functions.
    ///
    /// @param cost seconds of processor time
    fn pace(&mut self, cost: f64) {
        let share = cost / CALL_EVERY.as_secs_f64() / self.every as f64;
        if self.rounds == 1 {
            return;
        }
        if share > COST_MAX {
            (self.every, self.units) = match self.every {
                CALLS_MAX.. => (CALLS_MAX, (self.units / 2).max(UNITS_MIN)),
                every => (every * 2, self.units),
            };
        } else if share < COST_MAX / 4.0 {
            (self.every, self.units) = match self.units {
                UNITS_MAX.. => ((self.every / 2).max(1), UNITS_MAX),
                units => (self.every, units * 2),
            };
        }
    }
}

/// Returns the seconds of processor time that this thread has used.
fn used() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

/// Parts of one reading of the goroutines.
struct Round<'a> {
    program: &'a GoProgram,
    globals: &'a Globals,
    stacks: &'a mut Stacks,
    activities: &'a mut ActivitySampler,
    process: &'a Process,
    threads: &'a mut HashMap<u64, u32>,
    known: &'a mut HashMap<u64, Known>,
    number: u64,
    /// Threads in system calls that were looked up.
    callers: usize,
}

impl Round<'_> {
    /// Returns what a goroutine does, with its stack, and the peer that it waits for.
    fn sighting(&mut self, goroutine: &Goroutine) -> (Waiting, Rc<[Frame]>, Option<Rc<str>>) {
        let nothing = || Rc::from(Vec::new());
        match goroutine.status {
            Status::Running | Status::Held | Status::Free => (Waiting::Not, nothing(), None),
            Status::Runnable => {
                let frames = self.unwound(goroutine, "").map_or_else(nothing, |(frames, _)| frames);
                (Waiting::Not, frames, None)
            }
            Status::InCall => self.in_call(goroutine),
            Status::Waiting => self.waits(goroutine),
        }
    }

    fn waits(&mut self, goroutine: &Goroutine) -> (Waiting, Rc<[Frame]>, Option<Rc<str>>) {
        let Goroutine { address, number, stops, sp, pc, reason, .. } = *goroutine;
        if let Some(known) = self.known.get_mut(&address)
            && (known.number, known.stops, known.sp, known.pc, known.reason) == (number, stops, sp, pc, reason)
        {
            known.round = self.number;
            return (known.waiting, known.frames.clone(), known.peer.clone());
        }
        let globals = self.globals;
        let name = globals.reasons.get(usize::from(reason)).map_or("", |name| &**name);
        let Some((frames, copy)) = self.unwound(goroutine, name) else {
            return (waits::of(name, &[]).0, Rc::from(Vec::new()), None);
        };
        let is_held = frames.last().is_some_and(|frame| &*frame.name == HELD_BY_COLLECTOR);
        let name = if is_held { HELD_BY_COLLECTOR } else { name };
        let (mut waiting, is_named) = waits::of(name, &frames);
        let mut peer = None;
        if name == polling::REASON {
            let polled = polling::of(self.program, &globals.layout, goroutine, &copy);
            (waiting, peer) = self.at_peer(waiting, polled);
        } else if waiting == Waiting::Resource && polling::waits_for_a_timer(self.program, &globals.layout, goroutine) {
            waiting = Waiting::Sleep;
        }
        let frames = match &peer {
            Some(peer) => frames.iter().take(frames.len() - 1).cloned().chain([polling::frame(peer)]).collect(),
            // The owner of a pool waits at a channel like a worker without work, and is none.
            None if is_named => frames.iter().take(frames.len() - 1).cloned().collect(),
            None => frames,
        };
        let known = Known {
            number,
            stops,
            sp,
            pc,
            reason,
            round: self.number,
            waiting,
            frames: frames.clone(),
            peer: peer.clone(),
        };
        self.known.insert(address, known);
        (waiting, frames, peer)
    }

    /// Returns the kind of a wait at a socket, and its peer.
    fn at_peer(&mut self, by_stack: Waiting, polled: Option<Polled>) -> (Waiting, Option<Rc<str>>) {
        let Some(polled) = polled.filter(|_| by_stack != Waiting::Idle) else { return (by_stack, None) };
        match self.activities.at_socket(polled.descriptor) {
            Activity::Remote(peer) if peer.ends_with(":53") => (Waiting::NameService, Some(peer.into())),
            Activity::Remote(peer) => (by_stack, Some(peer.into())),
            // A client that sends nothing has nothing to be done. One that takes no answer holds the goroutine up.
            Activity::Idle if !polled.is_write => (Waiting::Idle, None),
            _ => (by_stack, None),
        }
    }

    /// Returns what the thread of a goroutine in a system call does.
    fn in_call(&mut self, goroutine: &Goroutine) -> (Waiting, Rc<[Frame]>, Option<Rc<str>>) {
        let frames = self.unwound(goroutine, "").map_or_else(|| Rc::from(Vec::new()), |(frames, _)| frames);
        self.callers += 1;
        let at = goroutine.thread.wrapping_add(self.globals.layout.thread as u64);
        let thread = (self.callers <= CALLERS_MAX).then(|| self.program.word(at)).flatten();
        let activity = thread.and_then(|thread| self.outside(thread)).and_then(|tid| self.activities.activity(tid, 1));
        let by_stack = |otherwise| waits::in_call(&frames).unwrap_or(otherwise);
        let (waiting, peer) = match activity {
            // What a device takes of the processor is part of the wait for it.
            Some(Activity::Running) if waits::syncs(&frames) => (Waiting::File, None),
            Some(Activity::Running) => (Waiting::Not, None),
            Some(Activity::Disk(_)) => (Waiting::File, None),
            Some(Activity::Remote(peer)) if peer.ends_with(":53") => (Waiting::NameService, Some(peer.into())),
            Some(Activity::Remote(peer)) => (by_stack(Waiting::Network), Some(peer.into())),
            Some(Activity::Sleep) => (Waiting::Sleep, None),
            Some(Activity::Idle) => (by_stack(Waiting::Idle), None),
            _ => (by_stack(Waiting::Unknown), None),
        };
        (waiting, frames, peer)
    }

    /// Returns the number of a thread outside of its namespace.
    fn outside(&mut self, thread: u64) -> Option<u32> {
        if self.process.pid == self.process.pid_inside {
            return u32::try_from(thread).ok();
        }
        if !self.threads.contains_key(&thread) {
            let all = self.process.threads().into_iter();
            *self.threads = all.map(|tid| (self.process.tid_inside(tid).into(), tid)).collect();
        }
        self.threads.get(&thread).copied()
    }

    /// Returns the stack, if the goroutine did not run during the reading.
    fn unwound(&mut self, goroutine: &Goroutine, reason: &str) -> Option<(Rc<[Frame]>, Copy)> {
        let copy = Copy::of(self.program, goroutine)?;
        let calls = self.stacks.calls(goroutine.pc, &copy, |address| self.program.is_code(address));
        let now = goroutine::read(self.program, &self.globals.layout, vec![goroutine.address]);
        let is_same = |now: &Goroutine| {
            (now.number, now.stops, now.sp, now.status)
                == (goroutine.number, goroutine.stops, goroutine.sp, goroutine.status)
        };
        now.first().is_some_and(is_same).then_some(())?;
        Some((self.stacks.frames(calls, goroutine.reason, reason), copy))
    }
}
