//! Samples of any process: perf events sample its threads, their stacks are unwound from a copy of the memory, and
//! addresses are named.
//!
//! ```text
//!   counters.rs  samples: kernel addresses, registers, the top of the user stack
//!   memory.rs    mappings, and unwinding of their functions
//!   names.rs     addresses -> functions, inlined ones too
//!   mangled.rs   names of C++ and Rust
//!   unwinding.rs copied stacks -> frames with names
//!   waiting.rs   positions of threads that do not run
//!   functions.rs begin and returns of a function by its name
//! ```
//!
//! Most programs and libraries have no frame pointers, and the kernel's own user stacks end at the first such
//! function. Therefore the stack's memory is copied with each sample and unwound here, by the tables of C++
//! exceptions.

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
