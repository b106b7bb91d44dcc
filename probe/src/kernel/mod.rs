//! What the kernel sees of a process, by small programs of ours that run in it (BPF): calls, page faults. They are loaded for the time of a look
//! and are gone with us, however we end.
//!
//! ```text
//!   programs.rs  loading what bpf/ has, and why that is not possible here
//!   hits.rs      calls of functions and of the system, passings of tracepoints
//!   allocations.rs what is asked of malloc
//!   faults.rs    page faults
//!   machine/     what is seen of the machine, whichever process it is for
//!   samples.rs   of a clock that ticks for all, one process's samples
//!   tracepoint.rs tracepoints by their numbers, where tracefs is mounted nowhere too
//!   threads.rs   where threads are that do not run
//!   waits.rs     when threads were not on a processor
//!   stacks.rs    stacks that the programs ask for, of processes that are no JVM
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
