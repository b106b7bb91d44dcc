//! Slice: the profile of one process during some seconds, with what counted beside it.

mod facts;
mod frame;
mod measure;
mod stacks;

pub use facts::{Counter, Facts, Gc, Service};
pub use frame::{Frame, FrameKind};
pub use measure::Measure;
pub use stacks::Stacks;

/// Profile of one process during some seconds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Slice {
    /// Process, time, requests and counters.
    pub facts: Facts,
    /// Call stacks with their costs.
    pub stacks: Stacks,
}
