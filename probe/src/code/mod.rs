//! Functions and data of a process by their names.
//!
//! ```text
//!   data.rs      addresses of data
//!   functions.rs begin and returns of a function by its name
//!   go_program.rs    Go's version, tables and variables in a process
//!   image.rs         its file, as it is mapped
//!   go_functions.rs  Go's table of functions
//!   sections.rs  sections and segments of its file
//!   returns.rs   return instructions of its machine code
//!   mangled.rs   names of C++ and Rust
//!   variables.rs addresses of variables
//! ```

pub mod data;
mod functions;
mod go_functions;
mod go_program;
mod image;
pub(crate) mod mangled;
mod returns;
pub mod sections;
mod variables;

pub use functions::{Function, find};
pub use go_functions::GoFunctions;
pub use go_program::{GoProgram, is_go};
pub use variables::{address_of, name_at};
