//! Samples of a process: raw while it runs, with names at the end.

use std::rc::Rc;

use yunti_base::Result;

use super::counters::{Counters, Ticks};
use super::unwinding::Unwinding;
use crate::stack::Frame;
use crate::target::Process;

/// Sample of a thread.
pub struct NativeSample {
    /// Frames, outermost first.
    pub frames: Vec<Frame>,
    /// Name and number of the thread.
    pub thread: Rc<str>,
    /// Thread number.
    pub tid: u32,
    /// Time on CLOCK_MONOTONIC.
    pub time_ns: u64,
    /// Samples that it stands for, or events that were counted.
    pub value: u64,
}

/// Running sampler of a process.
pub struct Native {
    counters: Counters,
    unwinding: Unwinding,
    samples: Vec<NativeSample>,
    is_clock: bool,
    /// Events at the last taking of samples.
    events: u64,
}

impl Native {
    /// Starts to sample a process, `rate` times in a second of processor time.
    pub fn start(process: &Process, rate: u32) -> Result<Native> {
        Native::by(process, Ticks::Clock(rate))
    }

    /// Starts to sample a process by a clock or by an event.
    pub fn by(process: &Process, ticks: Ticks) -> Result<Native> {
        let counters = Counters::start(process, ticks)?;
        let is_clock = matches!(ticks, Ticks::Clock(_));
        Ok(Native { counters, unwinding: Unwinding::new(process), samples: Vec::new(), is_clock, events: 0 })
    }

    /// Returns true if kernel code is sampled too.
    pub fn sees_kernel(&self) -> bool {
        self.counters.sees_kernel
    }

    /// Returns the samples that were lost.
    pub fn lost(&self) -> u64 {
        self.counters.lost
    }

    /// Takes the new samples; call it before the ring buffers are full.
    pub fn collect(&mut self) {
        let mut raws = Vec::new();
        self.counters.drain(|raw| raws.push(raw));
        for raw in raws {
            let (frames, thread) = (self.unwinding.frames(&raw), self.unwinding.thread(raw.tid));
            let value = if self.is_clock { 1 } else { raw.period };
            self.samples.push(NativeSample { frames, thread, tid: raw.tid, time_ns: raw.time_ns, value });
        }
    }

    /// Returns the samples since the last call, and goes on.
    pub fn take(&mut self) -> Vec<NativeSample> {
        self.collect();
        let mut samples = std::mem::take(&mut self.samples);
        if let Some(events) = self.counters.events() {
            let since = events - std::mem::replace(&mut self.events, events);
            scale(&mut samples, since);
        }
        samples
    }

    /// Ends, and returns all samples.
    pub fn finish(mut self) -> Vec<NativeSample> {
        self.take()
    }
}

/// Scales the values so that their sum is the number of events.
fn scale(samples: &mut [NativeSample], events: u64) {
    let sum: u64 = samples.iter().map(|sample| sample.value).sum();
    let (mut before, mut scaled_before) = (0u64, 0u64);
    for sample in samples {
        before += sample.value;
        let scaled = (u128::from(before) * u128::from(events) / u128::from(sum.max(1))) as u64;
        sample.value = scaled - scaled_before;
        scaled_before = scaled;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_add_up_to_the_events() {
        let sample = |value| NativeSample { frames: Vec::new(), thread: "t".into(), tid: 1, time_ns: 0, value };
        for (values, events) in [(vec![1, 3, 0, 7], 22), (vec![5, 5], 3), (vec![], 4), (vec![2, 2, 2], 0)] {
            let mut samples: Vec<NativeSample> = values.into_iter().map(sample).collect();
            scale(&mut samples, events);
            let sum: u64 = samples.iter().map(|sample| sample.value).sum();
            assert_eq!(sum, if samples.is_empty() { 0 } else { events });
        }
    }
}
