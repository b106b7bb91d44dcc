//! Heap dumps of JVMs: who holds the memory, by dominators, without index files.
//!
//! ```text
//!   file/    bytes -> records            model/  classes, sizes, roots
//!   pass/    scan -> references -> weigh          each on several threads; the first two read the dump
//!   graph/   ids -> forest -> contract -> dominators
//!   v8/      the same of snapshots of V8
//!   heap     the passes in their order  answer/ suspects, paths from roots, threads   query/ a subset of OQL
//! ```
//!
//! Only references into objects with several referrers are kept. So a dump takes 0.3 to 0.6 times its size in memory.

pub mod answer;
pub mod file;
pub mod graph;
pub mod heap;
pub mod model;
pub mod pass;
pub mod query;
pub mod v8;

pub use heap::{Dominator, Heap, Settings};
