//! The cause that bounds a process: cheap measurements side by side, then details where they suggest it, then rules.
//! The details are measured by other commands, so they are in `command/why/details.rs`.
//!
//! ```text
//!   watch.rs      first measurement: processor time, waits, collections, page faults, neighbours
//!   units.rs      units of work: threads, and what runtimes schedule on them
//!   waiting.rs    kind of a thread's wait, by its stack
//!   settle.rs     waits for work, told from waits for what others hold
//!   queue.rs      what N threads wait for and M have
//!   facts/        results of both measurements
//!   listening.rs  accept queues and their overflows
//!   reads.rs      reads into the page cache, and requests to the device
//!   blocked_loop.rs event loops in calls that block
//!   database.rs   sessions of a database that wait for locks
//!   deadlock.rs   threads that wait for each other in a cycle
//!   memory.rs     the largest holder of memory
//!   go.rs         Go's collector and processors
//!   verdict.rs    the answer: causes, or why there are none
//!   requests/     requests under way on connections, and their causes
//!   wire.rs       causes on the way to peers: slow receivers, small segments, loss
//!   node.rs       causes in Node.js; one_thread.rs, saturated.rs: one thread that works all the time
//!   python.rs     causes in Python: the interpreter's lock and its collector
//!   finding.rs    a cause with its cost, evidence and cure
//!   growth.rs     numbers that grow all the time
//!   outside/      harm from outside: tracers, memory taken away, neighbours
//!   collections/  garbage collection and compilation in a JVM
//!   rules.rs      causes, each with cost, evidence and cure; more in held.rs, hot.rs, storage.rs and connections.rs
//! ```

mod blocked_loop;
pub mod collections;
mod connections;
pub mod database;
pub mod deadlock;
pub mod facts;
pub mod finding;
mod go;
mod growth;
mod held;
mod hot;
mod listening;
mod memory;
mod node;
mod one_thread;
pub mod outside;
mod python;
mod queue;
pub mod reads;
pub mod requests;
mod rules;
mod saturated;
mod settle;
pub mod storage;
mod units;
mod verdict;
pub mod waiting;
mod watch;
mod wire;
mod workers;

pub use facts::{Facts, FaultSummary};
pub use finding::Finding;
pub use growth::growth_notes;
pub use verdict::{Verdict, verdict};
pub use waiting::Waiting;
pub use watch::watch;
