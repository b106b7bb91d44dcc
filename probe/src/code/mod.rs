//! Functions of a process by their names: where they begin, where they return.
//!
//! ```text
//!   functions.rs begin and returns of a function by its name
//!   returns.rs   return instructions of its machine code
//!   mangled.rs   names of C++ and Rust
//!   variables.rs addresses of variables
//! ```

mod functions;
pub(crate) mod mangled;
mod returns;
mod variables;

pub use functions::{Function, find};
pub use variables::address_of;
