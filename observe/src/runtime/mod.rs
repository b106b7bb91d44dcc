//! Runtimes that run units of work of their own on threads: goroutines, coroutines, threads under an interpreter's
//! lock. Each is read from outside while it runs, and reports what its units do at a moment.

pub mod event_loop;
mod go;
pub mod node;
pub mod python;

use std::rc::Rc;
use std::time::Duration;

use event_loop::EventLoop;
pub use go::{GoFacts, is_of_library as is_of_go_library};
use python::InterpreterFacts;
use yunti_probe::native::NativeSample;
use yunti_probe::stack::Frame;
use yunti_probe::target::Process;

/// Kind of wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Waiting {
    /// No wait: the thread runs or is ready.
    Not,
    /// A monitor or a lock that another thread holds.
    Lock,
    /// One of a number of shared resources: connections, permits, places in a queue.
    Resource,
    /// The result of another thread.
    Result,
    /// A peer over the network. The stack does not show which side sent the request.
    Network,
    /// The address of a name.
    NameService,
    File,
    /// Work.
    Idle,
    Sleep,
    Unknown,
}

/// Unit of work at one moment: a thread, a goroutine, a virtual thread.
#[derive(Clone, Debug)]
pub struct Sighting {
    /// Number of the unit in its runtime.
    pub unit: u64,
    pub name: Rc<str>,
    pub waiting: Waiting,
    /// Frames of the runtime's language, the outermost first; native frames only where no other is known.
    pub frames: Rc<[Frame]>,
}

/// Reader of a runtime's units of work.
pub trait Runtime {
    /// Returns the name of the runtime, with its version: `Go 1.22`.
    fn name(&self) -> &str;

    /// Reads all units once. It is called every 25 ms, and may do nothing in some of these calls; `take` gets each unit
    /// with the number of calls that the sighting stands for.
    fn sample(&mut self, take: &mut dyn FnMut(Sighting, u64));

    /// Returns false if its threads are its units, which are sampled as threads.
    fn has_units(&self) -> bool {
        true
    }

    /// Adds frames of the runtime's language to native stacks. It is called once, right before `finish`.
    fn join(&mut self, _native: &mut [NativeSample], _skips: &mut Vec<String>) {}

    /// Returns its event loop, if it runs all work on one. It is called after `finish`.
    fn event_loop(&mut self) -> Option<EventLoop> {
        None
    }

    /// Returns the lock and the collector of its interpreter, if it has one. It is called after `finish`.
    fn interpreter(&mut self) -> Option<InterpreterFacts> {
        None
    }

    /// Ends the measurement, and leaves the process as it was found. Returns further stacks on a processor with their
    /// samples, if the runtime has a profiler of its own.
    fn finish(&mut self) -> Vec<(Rc<[Frame]>, u64)> {
        Vec::new()
    }

    /// Returns the memory and the scheduler of a Go program.
    fn go_facts(&self) -> Option<GoFacts> {
        None
    }

    /// Returns the peers that units waited for, with the units that waited at a time, on average.
    fn peers(&self) -> Vec<(String, f64)> {
        Vec::new()
    }
}

/// Finds the runtime of a process that is no JVM, and begins to read it. `None`: it has none that is known. What cannot
/// be read is added to `skips`.
///
/// @param time of the measurement
/// @param may_open false if no debugging port of a runtime may be opened
pub fn of(process: &Process, time: Duration, may_open: bool, skips: &mut Vec<String>) -> Option<Box<dyn Runtime>> {
    if let Some(go) = go::of(process, skips) {
        return Some(Box::new(go));
    }
    if let Some(node) = node::of(process, time, may_open, skips) {
        return Some(Box::new(node));
    }
    if let Some(python) = python::of(process, skips) {
        return Some(Box::new(python));
    }
    None
}
