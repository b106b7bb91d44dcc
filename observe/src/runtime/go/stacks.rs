//! Stacks of goroutines that do not run, by the sizes of frames in Go's own table of functions.

use std::collections::HashMap;
use std::rc::Rc;

use super::goroutine::Goroutine;
use yunti_probe::code::{GoFunctions, GoProgram};
use yunti_probe::stack::{Frame, Kind};

/// Bytes of a stack that are copied.
const STACK_BYTES: u64 = 16 << 10;
const FRAMES_MAX: usize = 256;
/// Stacks and functions that are remembered.
const KNOWN_MAX: usize = 50_000;
/// Function below the first one of each goroutine.
const OUTERMOST: &str = "runtime.goexit";

/// Beginning of the collector's functions that a goroutine calls when it allocates. It may wait there for others that
/// do so too.
const OF_COLLECTOR: &str = "runtime.gc";
/// Reason of a goroutine that waits until it may allocate.
pub const HELD_BY_COLLECTOR: &str = "GC assist wait";

/// Unwinder of goroutines.
pub struct Stacks {
    functions: GoFunctions,
    frame_bytes: HashMap<u64, Option<u64>>,
    names: HashMap<u64, Rc<[Frame]>>,
    stacks: HashMap<(Vec<u64>, u8), Rc<[Frame]>>,
    starts: HashMap<u64, Start>,
}

/// First function of a goroutine.
#[derive(Clone)]
pub struct Start {
    pub name: Rc<str>,
    /// True for goroutines of the runtime itself.
    pub is_of_runtime: bool,
}

/// Copy of a stack.
pub struct Copy {
    /// Address of its first byte.
    pub sp: u64,
    pub bytes: Vec<u8>,
}

impl Copy {
    /// Copies the stack of a goroutine from its saved position on.
    pub fn of(program: &GoProgram, goroutine: &Goroutine) -> Option<Copy> {
        let is_within =
            (goroutine.stack_begin..goroutine.stack_end).contains(&goroutine.sp) && goroutine.sp.is_multiple_of(8);
        let size = is_within.then(|| (goroutine.stack_end - goroutine.sp).min(STACK_BYTES))?;
        let mut bytes = vec![0; size as usize];
        program.read(goroutine.sp, &mut bytes).then_some(Copy { sp: goroutine.sp, bytes })
    }

    pub fn word(&self, address: u64) -> Option<u64> {
        let at = usize::try_from(address.checked_sub(self.sp)?).ok()?;
        Some(u64::from_le_bytes(self.bytes.get(at..at.checked_add(8)?)?.try_into().ok()?))
    }
}

impl Stacks {
    pub fn new(functions: GoFunctions) -> Stacks {
        Stacks {
            functions,
            frame_bytes: HashMap::new(),
            names: HashMap::new(),
            stacks: HashMap::new(),
            starts: HashMap::new(),
        }
    }

    /// Returns the first function by its entry.
    pub fn start(&mut self, entry: u64) -> Start {
        if self.starts.len() > KNOWN_MAX {
            self.starts.clear();
        }
        let functions = &self.functions;
        let start = self.starts.entry(entry).or_insert_with(|| {
            let name = functions.function(entry).unwrap_or_else(|| "[goroutine]".to_owned());
            Start { is_of_runtime: is_of_runtime(&name), name: name.into() }
        });
        start.clone()
    }

    /// Returns the addresses of the calls on a stack, innermost first.
    pub fn calls(&mut self, pc: u64, copy: &Copy, is_code: impl Fn(u64) -> bool) -> Vec<u64> {
        let (mut calls, mut at, mut sp) = (Vec::new(), pc, copy.sp);
        if self.frame_bytes.len() > KNOWN_MAX {
            self.frame_bytes.clear();
        }
        while calls.len() < FRAMES_MAX && is_code(at) {
            calls.push(at);
            let functions = &self.functions;
            let Some(size) = *self.frame_bytes.entry(at).or_insert_with(|| functions.frame_bytes(at)) else { break };
            let Some((caller, above)) = caller(copy, sp, size) else { break };
            (at, sp) = (caller, above);
        }
        calls
    }

    /// Returns the named frames of calls, outermost first. The runtime's own functions at the inner end are left out,
    /// and the reason of the wait is there instead.
    ///
    /// @param calls innermost first
    pub fn frames(&mut self, calls: Vec<u64>, reason: u8, reason_name: &str) -> Rc<[Frame]> {
        if let Some(known) = self.stacks.get(&(calls.clone(), reason)) {
            return known.clone();
        }
        let mut frames: Vec<Frame> = Vec::new();
        for call in calls.iter().rev() {
            frames.extend(self.named(*call).iter().cloned());
        }
        let mut is_of_collector = false;
        while let Some(frame) = frames.pop_if(|frame| waits_in_runtime(&frame.name)) {
            is_of_collector |= frame.name.starts_with(OF_COLLECTOR);
        }
        let reason_name = if is_of_collector { HELD_BY_COLLECTOR } else { reason_name };
        if !reason_name.is_empty() {
            // A state is no function of anybody.
            frames.push(Frame { name: reason_name.into(), kind: Kind::Group });
        }
        let frames: Rc<[Frame]> = frames.into();
        if self.stacks.len() > KNOWN_MAX {
            self.stacks.clear();
        }
        self.stacks.insert((calls, reason), frames.clone());
        frames
    }

    /// Returns the functions at a call, outermost first.
    fn named(&mut self, call: u64) -> Rc<[Frame]> {
        if self.names.len() > KNOWN_MAX {
            self.names.clear();
        }
        let functions = &self.functions;
        let frames = self.names.entry(call).or_insert_with(|| {
            // The call is the instruction before the address.
            let names = functions.names(call - 1).unwrap_or_default().into_iter();
            let kind = |i| if i == 0 { Kind::Native } else { Kind::Inlined };
            let frames = names.enumerate().filter(|(_, name)| name != OUTERMOST);
            frames.map(|(i, name)| Frame { name: name.into(), kind: kind(i) }).collect()
        });
        frames.clone()
    }
}

/// Returns the caller's address and stack pointer, by the bytes of a frame: `runtime/traceback.go`.
#[cfg(target_arch = "x86_64")]
fn caller(copy: &Copy, sp: u64, frame_bytes: u64) -> Option<(u64, u64)> {
    let at = sp.checked_add(frame_bytes)?;
    Some((copy.word(at)?, at + 8))
}

#[cfg(target_arch = "aarch64")]
fn caller(copy: &Copy, sp: u64, frame_bytes: u64) -> Option<(u64, u64)> {
    // A function without a frame has its return address in a register, which is not saved.
    if frame_bytes == 0 {
        return None;
    }
    Some((copy.word(sp)?, sp.checked_add(frame_bytes)?))
}

/// Returns true for goroutines of the runtime, by their first function: `isSystemGoroutine` of the runtime.
fn is_of_runtime(start: &str) -> bool {
    const OF_PROGRAM: [&str; 3] = ["runtime.main", "runtime.corostart", "runtime.handleAsyncEvent"];
    start.starts_with("runtime.") && !OF_PROGRAM.contains(&start)
}

/// Returns true for functions in which the runtime puts a goroutine to sleep.
fn waits_in_runtime(name: &str) -> bool {
    const NAMED: [&str; 4] = ["time.Sleep", "runtime.main", "runtime.GC", "runtime.Gosched"];
    let is_linked = || name.split_once('.').is_some_and(|(_, function)| function.starts_with("runtime_"));
    !NAMED.contains(&name) && (name.starts_with("runtime.") || is_linked())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn goroutines_of_the_runtime() {
        for (start, expected) in [
            ("runtime.main", false),
            ("runtime.bgsweep", true),
            ("runtime.gcBgMarkWorker", true),
            ("main.main.func1", false),
            ("runtime/pprof.profileWriter", false),
        ] {
            assert_eq!(is_of_runtime(start), expected, "{start}");
        }
    }

    #[test]
    fn functions_that_put_to_sleep() {
        for (name, expected) in [
            ("runtime.gopark", true),
            ("sync.runtime_SemacquireMutex", true),
            ("internal/poll.runtime_pollWait", true),
            ("sync.(*Mutex).lockSlow", false),
            ("main.runtime_like", true),
            ("time.Sleep", false),
            ("main.handle", false),
        ] {
            assert_eq!(waits_in_runtime(name), expected, "{name}");
        }
    }

    #[cfg(target_arch = "x86_64")]
    #[test]
    fn callers_on_a_copy() {
        let copy = Copy { sp: 0x1000, bytes: [1u64, 2, 3].map(u64::to_le_bytes).concat() };
        assert_eq!(caller(&copy, 0x1000, 8), Some((2, 0x1010)));
        assert_eq!(caller(&copy, 0x1000, 24), None);
        assert_eq!(caller(&copy, u64::MAX, 8), None);
    }
}
