//! Everything measured of a process, for its demands.

use yunti_gc::Log;

use super::measure::processors::ProcessorUse;
use super::measure::spaces::Spaces;
use super::request::groups::Groups;
use super::request::kinds::Names;
use super::request::places::Places;
use super::request::timeline::Timeline;
use crate::jvm::Pause;
use crate::why::requests::Requests;

/// Runtime of a process, as far as it matters here.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Runtime {
    Jvm,
    /// One thread runs the program's code.
    Node,
    /// One thread at a time runs the program's code.
    Python,
    Go,
    #[default]
    Native,
}

impl Runtime {
    pub fn name(self) -> &'static str {
        match self {
            Runtime::Jvm => "jvm",
            Runtime::Node => "node",
            Runtime::Python => "python",
            Runtime::Go => "go",
            Runtime::Native => "native",
        }
    }
}

/// Everything measured of a process.
#[derive(Default)]
pub struct Evidence {
    pub places: Places,
    /// Names of requests.
    pub names: Names,
    pub timelines: Vec<Timeline>,
    pub pauses: Vec<Pause>,
    /// Log of the collections.
    pub collections: Option<Log>,
    pub spaces: Spaces,
    pub requests: Option<Requests>,
    pub processors: ProcessorUse,
    /// Processor seconds of processes that this one is connected to on this machine.
    pub peers_seconds: f64,
    /// Begin and end of the measured time, on CLOCK_MONOTONIC.
    pub begin_ns: u64,
    pub end_ns: u64,
    pub runtime: Runtime,
    /// Units of work of the runtime, by their first function.
    pub groups: Groups,
    /// Names of remote ends, by their numbers in [`Sleep`].
    pub peers: Vec<String>,
}
