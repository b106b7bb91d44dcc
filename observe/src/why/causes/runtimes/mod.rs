//! Causes in the work of runtimes.
//!
//! ```text
//!   collections/  garbage collection and compilation in a JVM
//!   go.rs         Go's collector and processors
//!   python.rs     the interpreter's lock and its collector
//!   node.rs       V8's collector, and synchronous calls
//! ```

pub mod collections;
pub mod go;
pub mod node;
pub mod python;
