//! What bounds a process: many cheap things are looked at side by side, what they point to is looked at closer, and rules say what it is.
//!
//! ```text
//!   watch.rs    the first look: processor time, waits, collections, page faults, neighbours
//!   waiting.rs  what a thread waits for, by its stack
//!   facts.rs    what is known then
//!   listening.rs connections that wait to be accepted, and who was turned away
//!   deeper.rs   the second look: which lock, which pages, which queue
//!   reads.rs    of that: what is brought into the page cache, and how
//!   memory.rs   who holds memory, where it is short
//!   rules.rs    causes, each with what it costs, the evidence, the cure; storage.rs and connections.rs have those of their kind
//! ```

mod connections;
mod deeper;
mod facts;
mod listening;
mod memory;
mod reads;
mod rules;
mod storage;
mod waiting;
mod watch;

pub use deeper::{look as look_deeper, points_deeper};
pub use facts::{Facts, FaultsSeen};
pub use rules::{Finding, findings};
pub use waiting::Waiting;
pub use watch::watch;
