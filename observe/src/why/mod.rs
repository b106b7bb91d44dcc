//! The cause that bounds a process: cheap measurements side by side, then details where they suggest it, then rules.
//! The details are measured by other commands, so they are in `command/why/details.rs`.
//!
//! ```text
//!   watch.rs      first measurement: processor time, waits, collections, page faults, neighbours
//!   waiting.rs    kind of a thread's wait, by its stack
//!   facts.rs      results of both measurements
//!   listening.rs  accept queues and their overflows
//!   reads.rs      reads into the page cache, and requests to the device
//!   memory.rs     the largest holder of memory
//!   requests/     requests under way on connections, and their causes
//!   wire.rs       causes on the way to peers: slow receivers, small segments, loss
//!   finding.rs    a cause with its cost, evidence and cure
//!   rules.rs      causes, each with cost, evidence and cure; more in storage.rs and connections.rs
//! ```

mod connections;
pub mod facts;
pub mod finding;
mod listening;
mod memory;
pub mod reads;
pub mod requests;
mod rules;
pub mod storage;
pub mod waiting;
mod watch;
mod wire;

pub use facts::{Facts, FaultSummary};
pub use finding::Finding;
pub use rules::findings;
pub use waiting::Waiting;
pub use watch::watch;
