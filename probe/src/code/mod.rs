//! Functions and data of a process by their names.
//!
//! ```text
//!   data.rs      addresses of data
//!   functions.rs begin and returns of a function by its name
//!   returns.rs   return instructions of its machine code
//!   mangled.rs   names of C++ and Rust
//!   variables.rs addresses of variables
//! ```

pub mod data;
mod functions;
pub(crate) mod mangled;
mod returns;
mod variables;

pub use functions::{Function, find};
pub use variables::address_of;
