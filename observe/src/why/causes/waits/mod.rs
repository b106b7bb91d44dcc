//! Causes in waits of units for each other.
//!
//! ```text
//!   held.rs          locks, pools, queues of executors; sleeps within work
//!   workers.rs       executors whose workers all wait; pinned virtual threads
//!   blocked_loop.rs  event loops in calls that block
//!   deadlock.rs      threads that wait for each other in a cycle
//!   pipe.rs          writers that wait because a pipe is full
//!   database.rs      sessions of a database that wait for locks
//! ```

pub mod blocked_loop;
pub mod database;
pub mod deadlock;
pub mod held;
pub mod pipe;
pub mod workers;
