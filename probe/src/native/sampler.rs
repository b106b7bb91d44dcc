//! Samples of a process, taken until it is enough: raw while it runs, named at the end.

use std::rc::Rc;

use yunti_base::Result;

use super::counters::Counters;
use super::unwinding::Unwinding;
use crate::stack::Frame;
use crate::target::Process;

pub struct NativeSample {
    pub frames: Vec<Frame>,
    pub thread: Rc<str>,
    pub tid: u32,
    /// CLOCK_MONOTONIC.
    pub time_ns: u64,
}

pub struct Native {
    counters: Counters,
    unwinding: Unwinding,
    samples: Vec<NativeSample>,
}

impl Native {
    pub fn start(process: &Process, rate: u32) -> Result<Native> {
        let counters = Counters::start(process, rate)?;
        Ok(Native { counters, unwinding: Unwinding::new(process), samples: Vec::new() })
    }

    pub fn sees_kernel(&self) -> bool {
        self.counters.sees_kernel
    }

    pub fn lost(&self) -> u64 {
        self.counters.lost
    }

    /// Takes what has come; now and then, before the rings are full.
    pub fn collect(&mut self) {
        let mut raws = Vec::new();
        self.counters.drain(|raw| raws.push(raw));
        for raw in raws {
            let (frames, thread) = (self.unwinding.frames(&raw), self.unwinding.thread(raw.tid));
            self.samples.push(NativeSample { frames, thread, tid: raw.tid, time_ns: raw.time_ns });
        }
    }

    pub fn finish(mut self) -> Vec<NativeSample> {
        self.collect();
        self.samples
    }
}
