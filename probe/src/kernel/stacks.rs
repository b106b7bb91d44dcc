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
    unwinding: Unwinding,
    /// Stacks by thread, and number within the thread.
    stacks: HashMap<(u32, u32), Rc<[Frame]>>,
}

impl StackEvents {
    /// Opens the perf events. Fails without the rights to copy stacks.
    pub fn of(process: &Process) -> Result<StackEvents> {
        let events = AskedStacks::open().map_err(|e| {
            Error::io(Code::Input, &format!("stacks of process {} cannot be copied", process.pid), &e)
                .hint("run as root")
        })?;
        Ok(StackEvents { events, unwinding: Unwinding::new(process), stacks: HashMap::new() })
    }

    /// Unwinds the stacks since the last call.
    pub fn collect(&mut self) {
        let mut come = Vec::new();
        self.events.drain(|word, raw| come.push(((half(word, 0, 0), half(word, 0, 1)), raw)));
        for (name, raw) in come {
            let frames = self.unwinding.frames(&raw);
            self.stacks.insert(name, frames.into());
        }
    }

    /// Returns the name and number of a thread.
    pub fn thread(&mut self, tid: u32) -> Rc<str> {
        self.unwinding.thread(tid)
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
    let settings = Settings { pid: process.pid, stacks_by_signal: stacks.is_none(), stacks_a_second_max };
    let object = load(image, settings, wanted)?;
    if let Some(stacks) = stacks {
        put_descriptors(&object, "stack_events", &stacks.events.descriptors())?;
    }
    Ok(object)
}
