//! Threads of an interpreter with their stacks, and the holder of its lock.

use std::rc::Rc;

use super::code::{Code, Codes};
use super::interpreter::Interpreter;
use super::layout::{FrameAt, Gil, Layout};
use super::memory::{Memory, half, number};

/// Interpreters, threads and frames above which lists are taken for damaged, or are cut off.
const INTERPRETERS_MAX: usize = 64;
const THREADS_MAX: usize = 4096;
const FRAMES_MAX: usize = 256;
/// Size of the lock, with its conditions.
const GIL_BYTES: u64 = 208;

/// Lock of an interpreter at a moment.
#[derive(Clone, Copy, Debug, Default)]
pub struct Lock {
    pub address: u64,
    /// State of the thread that has it.
    holder: Option<u64>,
    /// True while the cyclic collector runs.
    pub is_collecting: bool,
}

impl Lock {
    /// Returns true if a thread that waits for a futex at this address waits for the lock.
    pub fn has(&self, futex: u64) -> bool {
        self.address != 0 && (self.address..self.address + GIL_BYTES).contains(&futex)
    }
}

/// Thread of an interpreter.
pub struct Thread {
    state: u64,
    /// Number for pthreads, and for the kernel if the interpreter has it; both in the process's own namespace.
    pub pthread: u64,
    pub native: Option<u32>,
    pub holds_lock: bool,
    pub lock: Lock,
}

/// Lists the threads of all interpreters of the process.
pub fn threads(memory: &Memory, interpreter: &Interpreter) -> Vec<Thread> {
    let layout = &interpreter.layout;
    let mut found = Vec::new();
    let mut at = memory.word(interpreter.runtime + layout.interpreters).unwrap_or(0);
    for _ in 0..INTERPRETERS_MAX {
        if at == 0 {
            break;
        }
        let lock = lock(memory, interpreter, at).unwrap_or_default();
        let mut state = memory.word(at + layout.threads).unwrap_or(0);
        while state != 0 && found.len() < THREADS_MAX {
            let mut bytes = [0; 256];
            let end = (layout.thread_id + 8).max(layout.native_id.map_or(0, |at| at + 8)).max(layout.next_thread + 8);
            let Some(bytes) = bytes.get_mut(..end as usize) else { break };
            if memory.read(state, bytes).is_none() {
                break;
            }
            found.push(Thread {
                state,
                pthread: number(bytes, layout.thread_id),
                native: layout.native_id.map(|at| half(bytes, at)),
                holds_lock: lock.holder == Some(state),
                lock,
            });
            state = number(bytes, layout.next_thread);
        }
        at = memory.word(at + layout.next_interpreter).unwrap_or(0);
    }
    found
}

fn lock(memory: &Memory, interpreter: &Interpreter, of: u64) -> Option<Lock> {
    let layout = &interpreter.layout;
    let address = match layout.gil {
        Gil::Runtime(at) => interpreter.runtime + at,
        Gil::Interpreter(at) => memory.word(of + at)?,
    };
    let mut bytes = [0; 24];
    memory.read(address, &mut bytes)?;
    let holder = (half(&bytes, layout.gil_locked) == 1).then(|| number(&bytes, layout.gil_holder));
    let collector = if layout.minor == 8 { interpreter.runtime } else { of } + layout.collecting;
    let mut collecting = [0; 4];
    memory.read(collector, &mut collecting)?;
    Some(Lock { address, holder: holder.filter(|at| *at != 0), is_collecting: half(&collecting, 0) == 1 })
}

/// Reads the functions on a thread's stack, the innermost first. A thread that runs changes its stack while it is read:
/// what makes no sense is left out.
pub fn stack(memory: &Memory, layout: &Layout, codes: &mut Codes, thread: &Thread, into: &mut Vec<Rc<Code>>) {
    into.clear();
    let innermost = match layout.frame {
        FrameAt::Thread(at) => memory.word(thread.state + at),
        FrameAt::Through(at, then) => memory.word(thread.state + at).and_then(|at| memory.word(at + then)),
    };
    let mut frame = innermost.unwrap_or(0);
    let mut bytes = [0; 128];
    let words = layout.previous.max(layout.code) + 8;
    let end = words.max(layout.owner.map_or(0, |at| at + 1)) as usize;
    let Some(bytes) = bytes.get_mut(..end) else { return };
    for _ in 0..FRAMES_MAX {
        if frame == 0 || memory.read(frame, bytes).is_none() {
            return;
        }
        // From 3.14 on the lowest bits of a reference are flags.
        let code = number(bytes, layout.code) & !7;
        let runs_python = layout.owner.is_none_or(|at| bytes[at as usize] < 3);
        if runs_python && code != 0 {
            into.extend(codes.get(memory, layout, code, frame));
        }
        frame = number(bytes, layout.previous);
    }
}
