//! Calls of traced methods: put together thread by thread, and summed up by who called whom.
//!
//! ```text
//!   records -> call.rs   what a thread called, as trees
//!              table.rs  the same of all threads and times: one row a way of calls
//!              durations.rs  how long they took: p50, p99, max
//! ```

mod call;
mod durations;
mod table;

pub use call::{Call, Threads};
pub use durations::Durations;
pub use table::{Row, Table};
