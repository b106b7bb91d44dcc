//! Any process: its threads are sampled by perf events, their stacks unwound from a copy of their memory, addresses named.
//!
//! ```text
//!   counters.rs  samples: kernel addresses, registers, the top of the user's stack
//!   memory.rs    what is mapped where, and how its functions are unwound
//!   names.rs     addresses -> functions, inlined ones too
//!   mangled.rs   names of C++ and Rust
//!   unwinding.rs both, from what was copied of a thread to frames
//!   waiting.rs   where threads are that do not run
//!   functions.rs where a function of a name begins, and where it returns
//! ```
//!
//! Most programs and libraries are built without frame pointers; the kernel's own user stacks end at the first such function. So the
//! stack's memory is copied with each sample and unwound here, by the tables that C++ exceptions have.

mod counters;
mod functions;
mod mangled;
mod memory;
mod names;
mod returns;
mod sampler;
mod unwinding;
mod waiting;

pub use counters::{AskedStacks, REGISTERS};
pub use functions::{Function, find};
pub use sampler::Native;
pub use unwinding::Unwinding;
pub use waiting::{Waited, Waiting};
