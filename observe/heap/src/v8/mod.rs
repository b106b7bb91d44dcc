//! Heap snapshots of V8 (`.heapsnapshot` of Node.js, Chrome, Deno): the same answers as for a dump of a JVM.
//!
//! ```text
//!   read      JSON -> columns of nodes and edges         graph    dominators, retained sizes, what holds an object
//!   holders   suspects, the largest objects, classes
//! ```
//!
//! The rules are those of Chrome's developer tools: weak edges hold nothing, and a value in a `WeakMap` is held by its
//! key alone.

mod graph;
mod holders;
mod read;

pub use graph::Snapshot;
pub use holders::{ClassOf, Holder};
pub use read::is_snapshot;
