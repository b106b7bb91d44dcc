//! Measurements by small programs in the kernel (BPF). They are loaded for the time of a measurement, and disappear
//! with this process in any case.
//!
//! ```text
//!   hits.rs        calls of functions, system calls, passes of tracepoints
//!   gates.rs       programs before those of hits, written for conditions and counts
//!   functions.rs   functions and tracepoints of the kernel by their types
//!   allocations.rs memory requested from malloc
//!   faults.rs      page faults
//!   system/        measurements of the whole machine
//!   waits.rs       times at which threads were off the processor
//!   wakes.rs       which thread woke which
//!   clock.rs       clock of all records
//!   stacks.rs      stacks that the programs request, of processes that are no JVM
//! ```

mod allocations;
mod clock;
mod faults;
mod functions;
mod gates;
mod hits;
mod stacks;
pub mod system;
mod waits;
mod wakes;

pub use allocations::Allocations;
pub use clock::monotonic_ns;
pub use faults::{Fault, Faults, Home};
pub use functions::KernelTypes;
pub use gates::ARGUMENTS;
pub use hits::{Form, Group, Hit, Hits, PROBES_MAX, Place, Probe};
pub use stacks::StackEvents;
pub use waits::{LockEvent, LockFunctions, LockRole, Span, SpanBounds, Wait, Waits};
pub use wakes::{OUTSIDE, Wakes};
