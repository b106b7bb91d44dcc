//! The cause that bounds a process: cheap measurements side by side, then details where they suggest it, then rules.
//!
//! ```text
//!   watch.rs      first measurement: processor time, waits, collections, page faults, neighbours
//!   waiting.rs    kind of a thread's wait, by its stack
//!   facts.rs      results of both measurements
//!   listening.rs  accept queues and their overflows
//!   details.rs    second measurement: locks, pages, queues
//!   reads.rs      reads into the page cache, and requests to the device
//!   memory.rs     the largest holder of memory
//!   rules.rs      causes, each with cost, evidence and cure; more in storage.rs and connections.rs
//! ```

mod connections;
mod details;
mod facts;
mod listening;
mod memory;
mod reads;
mod rules;
mod storage;
mod waiting;
mod watch;

pub use details::{measure as measure_details, needs_details};
pub use facts::{Facts, FaultSummary};
pub use rules::{Finding, findings};
pub use waiting::Waiting;
pub use watch::watch;
