//! Samples of a process: raw while it runs, with names at the end.

use std::rc::Rc;

use yunti_base::Result;

use super::counters::Counters;
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
}

/// Running sampler of a process.
pub struct Native {
    counters: Counters,
    unwinding: Unwinding,
    samples: Vec<NativeSample>,
}

impl Native {
    /// Starts to sample a process, `rate` times in a second of processor time.
    pub fn start(process: &Process, rate: u32) -> Result<Native> {
        let counters = Counters::start(process, rate)?;
        Ok(Native { counters, unwinding: Unwinding::new(process), samples: Vec::new() })
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
            self.samples.push(NativeSample { frames, thread, tid: raw.tid, time_ns: raw.time_ns });
        }
    }

    /// Returns the samples since the last call, and goes on.
    pub fn take(&mut self) -> Vec<NativeSample> {
        self.collect();
        std::mem::take(&mut self.samples)
    }

    /// Ends, and returns all samples.
    pub fn finish(mut self) -> Vec<NativeSample> {
        self.take()
    }
}
