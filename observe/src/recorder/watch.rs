//! Watch of one process: its stacks, requests, collections and counters over slices.
//!
//! A process without a JVM is sampled without a break. In a JVM the profiler starts anew for each slice, because its
//! recording is complete only at its end; this takes some milliseconds.

use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use yunti_base::Result;
use yunti_probe::stack;
use yunti_probe::target::Process;
use yunti_record::{Counter, Facts, Frame, Measure, Service, Slice, Stacks};

use super::collections::Collections;
use super::counters::ProcessCounters;
use super::names::lasting;
use super::requests::RequestCounter;
use super::settings::Settings;
use crate::history::recorded;
use crate::jvm::{Event, Profiler, Rates, Recording, Sampling};
use crate::profile::{self, Clock, ClockRates, Stack};

/// Samples of one event in a second from which on they are taken more rarely, and below which more often.
const SAMPLES_A_SECOND: f64 = 50.0;
const SAMPLES_A_SECOND_FEW: f64 = SAMPLES_A_SECOND / 8.0;
/// Samples of one event in a second, at most, until the next slice can adapt.
const SAMPLES_A_SECOND_MAX: u32 = 500;
/// Time between two samples of every thread.
const WALL: Duration = Duration::from_millis(500);
/// Bytes between two sampled allocations.
const ALLOC_BYTES: u64 = 512 << 10;
/// Time of waits for locks between two sampled waits.
const LOCK: Duration = Duration::from_millis(1);
/// Largest number by which a rate is divided.
const DIVISOR_MAX: u32 = 1 << 12;
/// Samples of each thread in a slice, at least.
const SAMPLES_A_SLICE_MIN: u32 = 8;
/// Samples of one processor that fit into its buffer, of the smallest that is common, and the longest interval.
const SAMPLES_A_PULSE: u32 = 25;
const PULSE_MAX: Duration = Duration::from_millis(250);
/// Slices after which a clock starts anew.
const CLOCK_SLICES_MAX: u32 = 60;
/// Time between two readings of the collections.
const COLLECTIONS_EVERY: Duration = Duration::from_secs(1);
/// Slices for which a process that cannot be sampled is left alone, at most.
const REST_MAX: u32 = 32;

/// Divisor of each event's rate.
type Divisors = HashMap<Event, u32>;

/// Watch of a process.
pub struct Watch {
    pub process: Process,
    pub service: Service,
    pub is_jvm: bool,
    events: Vec<Event>,
    slice: Duration,
    cpu_hz: u32,
    clock: Option<(Clock, ClockRates)>,
    /// Slices that the clock has sampled.
    clock_slices: u32,
    /// Profiler of a JVM, loaded once, and true while it runs.
    profiler: Option<Profiler>,
    is_running: bool,
    divisors: Divisors,
    requests: RequestCounter,
    collections: Option<Collections>,
    collections_at: Instant,
    counters: ProcessCounters,
    begun: Instant,
    begun_ms: u64,
    stacks: Stacks,
    /// Samples by event in the present slice.
    samples: HashMap<Event, u64>,
    lost: u64,
    /// Reason for which the last slice has no stacks.
    pub failure: Option<String>,
    failures: u32,
    /// Slices to leave out.
    rest: u32,
    /// Slices written, and lost.
    pub written: u64,
    pub lost_slices: u64,
    pub last_ms: u64,
}

impl Watch {
    pub fn new(process: &Process, service: Service, is_jvm: bool, settings: &Settings) -> Watch {
        Watch {
            process: process.clone(),
            service,
            is_jvm,
            events: settings.events.clone(),
            slice: settings.slice,
            cpu_hz: settings.cpu_hz,
            clock: None,
            clock_slices: 0,
            profiler: None,
            is_running: false,
            divisors: Divisors::new(),
            requests: RequestCounter::of(process),
            collections: is_jvm.then(|| Collections::of(process)).flatten(),
            collections_at: Instant::now(),
            counters: ProcessCounters::of(process),
            begun: Instant::now(),
            begun_ms: unix_ms(),
            stacks: Stacks::default(),
            samples: HashMap::new(),
            lost: 0,
            failure: None,
            failures: 0,
            rest: 0,
            written: 0,
            lost_slices: 0,
            last_ms: 0,
        }
    }

    /// Begins a slice.
    ///
    /// @param divisor by which all rates are divided
    pub fn begin(&mut self, slice: Duration, divisor: u32) {
        if self.rest > 0 {
            self.rest -= 1;
            return;
        }
        let started = self.start(slice, divisor);
        // What happened before is no part of the slice.
        (self.begun, self.begun_ms) = (Instant::now(), unix_ms());
        self.counters = ProcessCounters::of(&self.process);
        self.requests.begin();
        match started {
            Ok(()) => (self.failure, self.failures) = (None, 0),
            Err(e) => {
                self.failures += 1;
                self.rest = self.failures.min(REST_MAX) - 1;
                self.failure = Some(e.to_string());
                self.release();
            }
        }
    }

    /// Stops all sampling, and leaves the process as it was found.
    pub fn release(&mut self) {
        (self.profiler, self.is_running, self.clock) = (None, false, None);
        self.stacks = Stacks::default();
    }

    fn start(&mut self, slice: Duration, divisor: u32) -> Result<()> {
        if self.is_jvm {
            let process = &self.process;
            if yunti_probe::target::outside::stays_held(process) {
                let what = format!("the JVM {} is stopped", process.pid);
                return Err(yunti_base::Error::new(yunti_base::Code::Input, what));
            }
            let sampling = Sampling::Together(self.rates(divisor));
            match &mut self.profiler {
                Some(profiler) => profiler.begin(sampling, slice)?,
                None => self.profiler = Some(Profiler::start(process, sampling, slice)?),
            }
            self.is_running = true;
            return Ok(());
        }
        let rates = self.clock_rates(divisor);
        // Code of JIT compilers and unloaded libraries gets other names in time.
        self.clock_slices += 1;
        if self.clock_slices > CLOCK_SLICES_MAX || self.clock.as_ref().is_some_and(|(_, present)| *present != rates) {
            self.clock = None;
        }
        if self.clock.is_none() {
            // A debugging port would be open all day.
            let clock = Clock::start(&self.process, rates, slice, false, &mut Vec::new())?;
            (self.clock, self.clock_slices, self.lost) = (Some((clock, rates)), 0, 0);
        }
        Ok(())
    }

    fn divisor(&self, event: Event, divisor: u32) -> u32 {
        (self.divisors.get(&event).copied().unwrap_or(1) * divisor).min(DIVISOR_MAX)
    }

    fn rates(&self, divisor: u32) -> Rates {
        let wanted = |event| self.events.contains(&event).then(|| self.divisor(event, divisor));
        let longest = self.slice / SAMPLES_A_SLICE_MIN;
        let time = |full: Duration| move |by| (full * by).min(longest.max(full));
        Rates {
            cpu: wanted(Event::Cpu).map(time(Duration::from_secs(1) / self.cpu_hz)),
            wall: wanted(Event::Wall).map(time(WALL)),
            alloc_bytes: wanted(Event::Alloc).map(|by| ALLOC_BYTES * u64::from(by)),
            lock: wanted(Event::Lock).map(|by| LOCK * by),
            samples_a_second_max: SAMPLES_A_SECOND_MAX,
        }
    }

    fn clock_rates(&self, divisor: u32) -> ClockRates {
        let wall_hz = (Duration::from_secs(1).as_millis() / WALL.as_millis()) as u32;
        ClockRates {
            cpu_hz: (self.cpu_hz / self.divisor(Event::Cpu, divisor)).max(1),
            wall_hz: self.events.contains(&Event::Wall).then(|| (wall_hz / divisor).max(1)),
            counted: None,
        }
    }

    /// Samples what is due.
    pub fn keep_up(&mut self) {
        if let Some((clock, rates)) = &mut self.clock {
            let (stacks, samples) = (&mut self.stacks, &mut self.samples);
            clock.collect(|stack| add_native(stacks, samples, *rates, stack));
        }
        self.requests.keep_up();
        if self.collections_at.elapsed() >= COLLECTIONS_EVERY {
            self.collections_at = Instant::now();
            self.collections.iter_mut().for_each(Collections::keep_up);
        }
    }

    /// Returns the interval in which the buffers of a perf clock must be emptied; `None` without a clock.
    pub fn pulse(&self) -> Option<Duration> {
        let (_, rates) = self.clock.as_ref()?;
        Some((Duration::from_secs(1) * SAMPLES_A_PULSE / rates.cpu_hz).min(PULSE_MAX))
    }

    /// Ends a slice. `None` if the process could not be sampled.
    pub fn finish(&mut self, divisor: u32) -> Result<Option<Slice>> {
        // First, because the end of a profiler takes some time.
        let (requests, counters) = (self.requests.end(), ProcessCounters::of(&self.process));
        let rates = self.rates(divisor);
        let mut periods = BTreeMap::new();
        let mut losses = BTreeMap::new();
        let profiler = if std::mem::take(&mut self.is_running) { self.profiler.as_mut() } else { None };
        let time = match profiler {
            Some(profiler) => {
                let time = self.begun.elapsed();
                let recording = profiler.end()?;
                self.add_recording(&recording, &rates);
                if recording.dropped > 0 {
                    losses.insert("samples".to_owned(), recording.dropped);
                }
                let ns = |time: Duration| time.as_nanos() as u64;
                periods.extend(rates.cpu.map(|cpu| (Measure::Cpu, ns(cpu))));
                periods.extend(rates.wall.map(|wall| (Measure::Wall, ns(wall))));
                periods.extend(rates.alloc_bytes.map(|bytes| (Measure::Alloc, bytes)));
                periods.extend(rates.lock.map(|lock| (Measure::Lock, ns(lock))));
                time
            }
            None => {
                let Some((clock, rates)) = &mut self.clock else { return Ok(None) };
                let (stacks, samples, rates) = (&mut self.stacks, &mut self.samples, *rates);
                clock.take(&mut Vec::new(), |stack| add_native(stacks, samples, rates, stack));
                let lost = clock.lost();
                if lost > self.lost {
                    losses.insert("samples".to_owned(), lost - self.lost);
                }
                self.lost = lost;
                periods.insert(Measure::Cpu, period_ns(rates.cpu_hz));
                periods.extend(rates.wall_hz.map(|hz| (Measure::Wall, period_ns(hz))));
                self.begun.elapsed()
            }
        };
        self.adapt(time);
        let mut all: BTreeMap<String, Counter> = BTreeMap::new();
        counters.add_since(&self.counters, &mut all);
        let facts = Facts {
            service: self.service.clone(),
            begin_ms: self.begun_ms,
            duration_ms: time.as_millis() as u64,
            requests,
            periods,
            gc: self.collections.as_mut().map(Collections::take),
            counters: all,
            losses,
        };
        Ok(Some(Slice { facts, stacks: std::mem::take(&mut self.stacks) }))
    }

    fn add_recording(&mut self, recording: &Recording, rates: &Rates) {
        let mut numbers: HashMap<*const stack::Frame, Rc<[u32]>> = HashMap::new();
        for stack in profile::of_recording(recording) {
            *self.samples.entry(stack.event).or_default() += 1;
            let Some((measure, value)) = cost(&stack, rates) else { continue };
            let frames = numbers
                .entry(stack.frames.as_ptr())
                .or_insert_with(|| stack.frames.iter().map(|frame| self.stacks.number(&named(frame))).collect());
            let mut values = [0; Measure::ALL.len()];
            values[measure as usize] = value;
            self.stacks.add_numbers((&**frames).into(), values);
        }
    }

    /// Adapts the rates of events to the samples of a slice.
    fn adapt(&mut self, time: Duration) {
        for event in [Event::Cpu, Event::Wall, Event::Alloc, Event::Lock] {
            let rate = self.samples.get(&event).copied().unwrap_or(0) as f64 / time.as_secs_f64().max(0.001);
            let divisor = self.divisors.entry(event).or_insert(1);
            if rate > SAMPLES_A_SECOND {
                *divisor = (*divisor * 2).min(DIVISOR_MAX);
            } else if rate < SAMPLES_A_SECOND_FEW {
                *divisor = (*divisor / 2).max(1);
            }
        }
        self.samples.clear();
    }
}

/// Returns the measure and the cost of a sample in a JVM.
fn cost(stack: &Stack, rates: &Rates) -> Option<(Measure, u64)> {
    let ns = |time: Duration| time.as_nanos() as u64;
    Some(match stack.event {
        Event::Cpu => (Measure::Cpu, stack.value * ns(rates.cpu?)),
        Event::Wall => (Measure::Wall, stack.value * ns(rates.wall?)),
        Event::Alloc => (Measure::Alloc, stack.value),
        // A wait shorter than the threshold is sampled in proportion to its length, and stands for the threshold.
        Event::Lock => (Measure::Lock, stack.value.max(ns(rates.lock?))),
    })
}

/// Returns a frame as the store keeps it, with a name that the next start of the process has too.
fn named(frame: &stack::Frame) -> Frame {
    let mut kept = recorded(frame);
    if let Some(name) = lasting(&frame.name) {
        kept.name = name.into();
    }
    kept
}

fn period_ns(hz: u32) -> u64 {
    1_000_000_000 / u64::from(hz)
}

/// Adds a stack of a process without a JVM. Time on a processor is wall time too.
fn add_native(stacks: &mut Stacks, samples: &mut HashMap<Event, u64>, rates: ClockRates, stack: Stack) {
    *samples.entry(stack.event).or_default() += 1;
    let numbers: Box<[u32]> = stack.frames.iter().map(|frame| stacks.number(&named(frame))).collect();
    let mut values = [0; Measure::ALL.len()];
    match stack.event {
        Event::Cpu => {
            let ns = stack.value * period_ns(rates.cpu_hz);
            values[Measure::Cpu as usize] = ns;
            values[Measure::Wall as usize] = if rates.wall_hz.is_some() { ns } else { 0 };
        }
        _ => values[Measure::Wall as usize] = stack.value * period_ns(rates.wall_hz.unwrap_or(1)),
    }
    stacks.add_numbers(numbers, values);
}

/// Returns the time in milliseconds since 1970.
pub fn unix_ms() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_millis() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use yunti_probe::stack::Kind;

    #[test]
    fn samples_become_costs() {
        let frames = [stack::Frame { name: "main".into(), kind: Kind::Native }];
        let of = |event, value| Stack { event, thread: "t", state: "", frames: &frames, value };
        let rates = Rates {
            cpu: Some(Duration::from_millis(50)),
            wall: Some(Duration::from_millis(500)),
            alloc_bytes: Some(1000),
            lock: Some(Duration::from_millis(1)),
            samples_a_second_max: 1,
        };
        let check = |event, value, expected| assert_eq!(cost(&of(event, value), &rates), Some(expected));
        check(Event::Cpu, 3, (Measure::Cpu, 150_000_000));
        check(Event::Wall, 2, (Measure::Wall, 1_000_000_000));
        check(Event::Alloc, 4096, (Measure::Alloc, 4096));
        check(Event::Lock, 10, (Measure::Lock, 1_000_000));
        check(Event::Lock, 7_000_000, (Measure::Lock, 7_000_000));
        assert_eq!(cost(&of(Event::Cpu, 1), &Rates::default()), None);
        let (mut stacks, mut samples) = (Stacks::default(), HashMap::new());
        let rates = ClockRates { cpu_hz: 20, wall_hz: Some(2), counted: None };
        add_native(&mut stacks, &mut samples, rates, of(Event::Cpu, 1));
        add_native(&mut stacks, &mut samples, rates, of(Event::Wall, 3));
        assert_eq!((stacks.total(Measure::Cpu), stacks.total(Measure::Wall)), (50_000_000, 1_550_000_000));
    }
}
