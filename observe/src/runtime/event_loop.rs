//! Event loop of a process: one thread that runs all callbacks, as its runtime reports it.

use std::rc::Rc;

/// Event loop over a measurement.
#[derive(Clone, Debug, Default)]
pub struct EventLoop {
    /// Name and version of the runtime: `Node.js 20.11.0`.
    pub runtime: String,
    /// Number of the loop's thread as the kernel sees it.
    pub tid: u32,
    /// True if a port of the runtime was opened for the measurement, and closed again.
    pub was_opened: bool,
    pub profile: Option<LoopProfile>,
}

/// Shares of a loop's time, by the runtime's own profiler.
#[derive(Clone, Debug, Default)]
pub struct LoopProfile {
    /// Share of the time in which the loop did not wait for events; `None` if its version does not report it.
    pub utilisation: Option<f64>,
    /// Share of the time in the garbage collector.
    pub collecting: f64,
    /// Longest time in a row without a return to the loop, in milliseconds, by the stacks of the language.
    pub stall_ms_max: f64,
    /// Synchronous calls that hold the loop up, the costliest first.
    pub sync_calls: Vec<SyncCall>,
    pub heap: Option<ScriptHeap>,
}

/// Synchronous call of the runtime's library.
#[derive(Clone, Debug)]
pub struct SyncCall {
    /// Name: `readFileSync`.
    pub name: Rc<str>,
    /// Innermost function of the program that calls it.
    pub caller: Rc<str>,
    /// Share of the time.
    pub share: f64,
    /// Longest time in a row, in milliseconds.
    pub longest_ms: f64,
}

/// Heap of the language during a measurement, in bytes.
#[derive(Clone, Copy, Debug, Default)]
pub struct ScriptHeap {
    pub used_min: f64,
    pub used_max: f64,
    /// Limit, at which the program ends.
    pub limit: f64,
    /// Contexts (realms), which leak if they are created anew.
    pub contexts: f64,
}
