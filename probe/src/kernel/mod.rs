//! Measurements by small programs in the kernel (BPF). They are loaded for the time of a measurement, and disappear
//! with this process in any case.
//!
//! ```text
//!   programs.rs    loading the objects of bpf/, and reasons why that fails
//!   hits.rs        calls of functions, system calls, passes of tracepoints
//!   allocations.rs memory requested from malloc
//!   faults.rs      page faults
//!   system/        measurements of the whole machine
//!   samples.rs     samples of one process from a clock of the whole machine
//!   tracepoint.rs  tracepoints by their numbers, also without a mounted tracefs
//!   threads.rs     positions of threads that do not run
//!   waits.rs       times at which threads were off the processor
//!   stacks.rs      stacks that the programs request, of processes that are no JVM
//! ```

mod allocations;
mod faults;
mod hits;
mod programs;
mod samples;
mod stacks;
pub mod system;
mod threads;
mod tracepoint;
mod waits;

pub use allocations::Allocations;
pub use faults::{Fault, Faults, Home};
pub use hits::{ARGUMENTS, Form, Hit, Hits, PROBES_MAX, Place, Probe};
pub use samples::OnlyTarget;
pub use stacks::StackEvents;
pub use threads::{At, Thread, Threads};
pub use waits::{Span, SpanBounds, Wait, Waits};
