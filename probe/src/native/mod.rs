//! Samples of any process: perf events sample its threads, their stacks are unwound from a copy of the memory, and
//! addresses are named.
//!
//! ```text
//!   counters.rs  samples: kernel addresses, registers, the top of the user stack
//!   counted.rs   events that interrupt a thread instead of a clock: page faults, cache misses
//!   memory.rs    mappings, and unwinding of their functions
//!   names.rs     addresses -> functions, inlined ones too
//!   unwinding.rs copied stacks -> frames with names
//!   waiting.rs   positions of threads that do not run
//!   threads.rs   threads that do not run, by a program in the kernel
//!   only_target.rs   filter that keeps the samples of one process
//! ```
//!
//! Most programs and libraries have no frame pointers, and the kernel's own user stacks end at the first such
//! function. Therefore the stack's memory is copied with each sample and unwound here, by the tables of C++
//! exceptions.

mod counted;
mod counters;
mod memory;
mod names;
mod only_target;
mod sampler;
mod threads;
mod unwinding;
mod waiting;

pub use counted::Counted;
pub use counters::{AskedStacks, REGISTERS, Ticks};
pub use sampler::{Native, NativeSample};
pub use unwinding::Unwinding;
pub use waiting::{WaitSample, WaitSampler};
