//! The cause that bounds a process: cheap measurements side by side, then details where they suggest it, then rules.
//! The details are measured by other commands, so they are in `command/why/details.rs`.
//!
//! ```text
//!   watch.rs      first measurement: processor time, waits, collections, page faults, neighbours
//!   waiting.rs    kind of a thread's wait, by its stack
//!   facts/        results of both measurements
//!   listening.rs  accept queues and their overflows
//!   reads.rs      reads into the page cache, and requests to the device
//!   memory.rs     the largest holder of memory
//!   finding.rs    a cause with its cost, evidence and cure
//!   growth.rs     numbers that grow all the time
//!   outside/      harm from outside: tracers, memory taken away, neighbours
//!   collections/  garbage collection and compilation in a JVM
//!   rules.rs      causes, each with cost, evidence and cure; more in storage.rs and connections.rs
//! ```

pub mod collections;
mod connections;
pub mod facts;
pub mod finding;
mod growth;
mod listening;
mod memory;
pub mod outside;
pub mod reads;
mod rules;
pub mod storage;
pub mod waiting;
mod watch;

pub use facts::{Facts, FaultSummary};
pub use finding::Finding;
pub use growth::growth_notes;
pub use rules::findings;
pub use waiting::Waiting;
pub use watch::watch;
