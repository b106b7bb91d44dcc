//! The first measurement of a process.
//!
//! ```text
//!   watch.rs       all measurements side by side, for some seconds
//!   units.rs       units of work: threads, and what runtimes schedule on them
//!   file_locks.rs  locks of files that threads wait for
//!   listening.rs   accept queues and their overflows
//!   reads.rs       reads into the page cache, and requests to the device
//!   memory.rs      the largest holder of memory
//! ```

pub mod file_locks;
pub mod listening;
mod memory;
pub mod reads;
mod units;
pub mod watch;
