//! Any process: its threads are sampled by perf events, their stacks unwound from a copy of their memory, addresses named.
//!
//! ```text
//!   counters.rs  samples: kernel addresses, registers, the top of the user's stack
//!   memory.rs    what is mapped where, and how its functions are unwound
//!   names.rs     addresses -> functions, inlined ones too
//! ```
//!
//! Most programs and libraries are built without frame pointers; the kernel's own user stacks end at the first such function. So the
//! stack's memory is copied with each sample and unwound here, by the tables that C++ exceptions have.

mod counters;
mod memory;
mod names;
mod sampler;

pub use sampler::Native;
