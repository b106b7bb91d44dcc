//! Samples of a process, taken until it is enough: raw while it runs, named at the end.

use std::collections::HashMap;
use std::rc::Rc;

use yunti_engine::base::Result;

use super::counters::{Counters, Raw};
use super::memory::Memory;
use super::names::Names;
use crate::stack::{Frame, Kind};
use crate::target::Process;

pub struct NativeSample {
    pub frames: Vec<Frame>,
    pub thread: Rc<str>,
}

pub struct Native {
    process: Process,
    counters: Counters,
    memory: Memory,
    names: Names,
    samples: Vec<NativeSample>,
    threads: HashMap<u32, Rc<str>>,
}

impl Native {
    pub fn start(process: &Process, rate: u32) -> Result<Native> {
        let counters = Counters::start(process, rate)?;
        Ok(Native {
            counters,
            memory: Memory::new(process),
            names: Names::new(process),
            process: process.clone(),
            samples: Vec::new(),
            threads: HashMap::new(),
        })
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
        if raws.iter().any(|raw| raw.registers.last().is_some_and(|pc| self.memory.mapping(*pc).is_none())) {
            self.memory.look();
        }
        for raw in raws {
            let sample = self.named(&raw);
            self.samples.push(sample);
        }
    }

    pub fn finish(mut self) -> Vec<NativeSample> {
        self.collect();
        self.samples
    }

    fn named(&mut self, raw: &Raw) -> NativeSample {
        let (user, is_cut) = self.memory.unwind(&raw.registers, &raw.stack);
        let mut frames = Vec::new();
        if is_cut {
            frames.push(Frame { name: "[a stack deeper than what is copied of it]".into(), kind: Kind::Native });
        }
        for address in user.iter().rev() {
            frames.extend(self.names.user(*address, &self.memory).iter().cloned());
        }
        for address in raw.kernel.iter().rev() {
            frames.extend(self.names.kernel(*address).iter().cloned());
        }
        NativeSample { frames, thread: self.thread(raw.tid) }
    }

    fn thread(&mut self, tid: u32) -> Rc<str> {
        let process = &self.process;
        let name = self.threads.entry(tid).or_insert_with(|| {
            let name = process.thread_name(tid).unwrap_or_else(|| "[ended]".to_owned());
            format!("{name} {tid}").into()
        });
        name.clone()
    }
}
