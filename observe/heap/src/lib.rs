//! Heap dumps of JVMs: who holds the memory, by dominators, without index files.
//!
//! ```text
//!   file/    bytes -> records            model/  classes, sizes, roots
//!   pass/    scan -> references -> weigh          each reads the dump once, on several threads
//!   graph/   ids -> forest -> contract -> dominators
//!   heap     the passes in their order  answer/ suspects, paths from roots, threads
//! ```
//!
//! References are read again where others store them. So a dump of 1.5 GB takes 0.3 times its size in memory.

pub mod answer;
pub mod file;
pub mod graph;
pub mod heap;
pub mod model;
pub mod pass;

pub use heap::{Dominator, Heap, Settings};
