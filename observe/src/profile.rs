//! Stacks of a process in any runtime, with their costs. `flame` shows them for some seconds, and the recorder keeps
//! them in slices; both take them here.

use std::time::Duration;

use yunti_base::Result;

use crate::jvm::{Event, Recording};
use crate::runtime::{Runtime, node};
use yunti_probe::native::{Counted, Native, Ticks, WaitSample, WaitSampler};
use yunti_probe::stack::Frame;
use yunti_probe::stopping::PULSE;
use yunti_probe::target::Process;

/// Stack of a thread.
#[derive(Clone, Copy, Debug)]
pub struct Stack<'a> {
    pub event: Event,
    pub thread: &'a str,
    /// State of the thread; empty if the event has none.
    pub state: &'a str,
    /// Frames, the outermost first.
    pub frames: &'a [Frame],
    /// Samples for `cpu` and `wall`, events where they are counted, bytes for `alloc`, nanoseconds for `lock`.
    pub value: u64,
}

/// Returns the stacks of a JVM's recording.
pub fn of_recording(recording: &Recording) -> impl Iterator<Item = Stack<'_>> {
    recording.samples.iter().map(|sample| Stack {
        event: sample.event,
        thread: &sample.thread,
        state: &sample.state,
        frames: &sample.frames,
        value: sample.value,
    })
}

/// Fraction of the sampling period between two samples of waiting threads, chosen not to beat with the perf clock.
const OUT_OF_STEP: f64 = 0.73;
/// State of threads on a processor.
const RUNNING: &str = "running";

/// Rates of a clock, in samples a second of each thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClockRates {
    /// Samples of running threads, by a perf clock.
    pub cpu_hz: u32,
    /// Samples of waiting threads; `None` samples only running ones.
    pub wall_hz: Option<u32>,
    /// Event that interrupts running threads instead of a clock, at most `cpu_hz` times a second.
    pub counted: Option<Counted>,
}

/// Sampler of the threads of a process that is no JVM. A perf clock samples running threads; waiting ones are read.
pub struct Clock {
    native: Native,
    waiting: Option<WaitSampler>,
    node: Option<node::Node>,
    rates: ClockRates,
}

impl Clock {
    /// Starts to sample a process.
    ///
    /// @param time the longest time that it will be needed
    /// @param may_open false if no debugging port of a runtime may be opened
    pub fn start(
        process: &Process,
        rates: ClockRates,
        time: Duration,
        may_open: bool,
        skips: &mut Vec<String>,
    ) -> Result<Clock> {
        let waiting = rates.wall_hz.map(|hz| WaitSampler::of(process, hz)).transpose()?;
        let ticks = match rates.counted {
            Some(event) => Ticks::Counted(event, rates.cpu_hz),
            None => Ticks::Clock(rates.cpu_hz),
        };
        let native = Native::by(process, ticks)?;
        let node = node::of(process, time, may_open, skips);
        Ok(Clock { native, waiting, node, rates })
    }

    /// Returns the interval between two calls of [`Clock::collect`].
    pub fn pulse(&self) -> Duration {
        // Out of step with the perf clock, which would otherwise always interrupt this sampling.
        self.rates.wall_hz.map_or(PULSE, |hz| (Duration::from_secs(1) / hz).mul_f64(OUT_OF_STEP))
    }

    /// Takes new samples. `take` gets each wait that has ended.
    pub fn collect(&mut self, mut take: impl FnMut(Stack)) {
        self.native.collect();
        if let Some(waiting) = &mut self.waiting {
            waiting.sample(|wait| take(of_wait(&wait)));
        }
    }

    /// Returns the samples that were lost so far.
    pub fn lost(&self) -> u64 {
        self.native.lost()
    }

    /// Passes on everything up to now, and goes on.
    pub fn take(&mut self, skips: &mut Vec<String>, mut take: impl FnMut(Stack)) {
        if let Some(waiting) = &mut self.waiting {
            if !waiting.sees_registers() {
                skips.push("callers of some waiting threads: only root can read their registers".to_owned());
            }
            waiting.report_open(|wait| take(of_wait(&wait)));
        }
        if !self.native.sees_kernel() {
            skips.push(
                "frames of the kernel: not allowed; run as root, or set /proc/sys/kernel/perf_event_paranoid to 1"
                    .to_owned(),
            );
        }
        let mut samples = self.native.take();
        if let Some(node) = &mut self.node {
            node.join(&mut samples, skips);
        }
        for sample in &samples {
            take(Stack {
                event: Event::Cpu,
                thread: &sample.thread,
                state: RUNNING,
                frames: &sample.frames,
                value: sample.value,
            });
        }
    }

    /// Returns true if the inspector of Node.js was opened.
    pub fn has_opened(&mut self) -> bool {
        let event_loop = self.node.as_mut().and_then(Runtime::event_loop);
        event_loop.is_some_and(|event_loop| event_loop.was_opened)
    }
}

fn of_wait<'a>(wait: &'a WaitSample<'a>) -> Stack<'a> {
    let state = if wait.is_queued { "waiting for a processor" } else { "sleeping" };
    Stack { event: Event::Wall, thread: wait.thread, state, frames: wait.frames, value: wait.value }
}
