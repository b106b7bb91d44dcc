//! Stacks that the programs of `bpf/` request in processes that are no JVM: copied by a perf event, unwound here.

use std::collections::HashMap;
use std::rc::Rc;

use libbpf_rs::Object;
use yunti_base::{Code, Error, Result};

use crate::native::{AskedStacks, Unwinding};
use crate::programs::{Settings, half, load, put_descriptors};
use crate::stack::Frame;
use crate::target::Process;

/// Stacks by thread and number.
pub struct StackEvents {
    events: AskedStacks,
    /// The process whose stacks are wanted; `None` for all.
    only: Option<Process>,
    /// Unwinders by process. A process that has ended has none of its own.
    unwindings: HashMap<u32, Option<Unwinding>>,
    /// Unwinder of this process, for the kernel's part of stacks of processes that have ended.
    kernel: Option<Unwinding>,
    /// Stacks by thread, and number within the thread.
    stacks: HashMap<(u32, u32), Rc<[Frame]>>,
}

impl StackEvents {
    /// Opens the perf events for a process, or for all. Fails without the rights to copy stacks.
    pub fn of<'p>(process: impl Into<Option<&'p Process>>) -> Result<StackEvents> {
        let process = process.into();
        let whose = process.map_or_else(|| "all processes".to_owned(), |process| format!("process {}", process.pid));
        let events = AskedStacks::open().map_err(|e| {
            Error::io(Code::Input, &format!("stacks of {whose} cannot be copied"), &e).hint("run as root")
        })?;
        let mut unwindings = HashMap::new();
        if let Some(process) = process {
            unwindings.insert(process.pid, Some(Unwinding::new(process)));
        }
        Ok(StackEvents { events, only: process.cloned(), unwindings, kernel: None, stacks: HashMap::new() })
    }

    /// Unwinds the stacks since the last call.
    pub fn collect(&mut self) {
        let mut come = Vec::new();
        self.events.drain(|word, raw| come.push(((half(word, 0, 0), half(word, 0, 1)), raw)));
        for (name, mut raw) in come {
            let pid = self.only.as_ref().map_or(raw.pid, |process| process.pid);
            let own = self.unwindings.entry(pid).or_insert_with(|| Process::of(pid).ok().map(|p| Unwinding::new(&p)));
            let frames = match own {
                Some(own) => own.frames(&raw),
                None => {
                    raw.registers.clear();
                    self.kernel.get_or_insert_with(|| Unwinding::new(&Process::own())).frames(&raw)
                }
            };
            self.stacks.insert(name, frames.into());
        }
    }

    /// Returns the name and number of a thread.
    pub fn thread(&mut self, tid: u32) -> Rc<str> {
        let only = self.only.as_ref().and_then(|process| self.unwindings.get_mut(&process.pid)?.as_mut());
        only.map_or_else(|| tid.to_string().into(), |unwinding| unwinding.thread(tid))
    }

    /// Returns the stacks that did not fit into the ring buffer.
    pub fn lost(&self) -> u64 {
        self.events.lost
    }

    /// Returns all stacks.
    pub fn stacks(self) -> HashMap<(u32, u32), Rc<[Frame]>> {
        self.stacks
    }
}

/// Loads programs that request stacks. `stacks`: for a process that is no JVM; `None` sends SIGPROF to its threads,
/// for which it must have a handler.
pub fn load_with_stacks(
    image: &[u8],
    process: &Process,
    stacks: Option<&StackEvents>,
    stacks_a_second_max: u32,
    wanted: &[&str],
) -> Result<Object> {
    let stacks_by_signal = stacks.is_none();
    let settings = Settings { pid: process.pid, stacks_by_signal, stacks_a_second_max, has_gates: false };
    load_with(image, settings, stacks, wanted)
}

/// Loads programs that request stacks.
pub fn load_with(image: &[u8], settings: Settings, stacks: Option<&StackEvents>, wanted: &[&str]) -> Result<Object> {
    let object = load(image, settings, wanted)?;
    if let Some(stacks) = stacks {
        put_descriptors(&object, "stack_events", &stacks.events.descriptors())?;
    }
    Ok(object)
}
