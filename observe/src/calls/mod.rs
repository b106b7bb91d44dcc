//! Calls of traced methods: assembled per thread, and aggregated by call path.
//!
//! ```text
//!   records -> call.rs       call trees of each thread
//!              table.rs      one row per call path, over all threads
//!              durations.rs  percentiles of call durations
//! ```

mod call;
mod durations;
mod table;

pub use call::{Call, Threads};
pub use durations::Durations;
pub use table::{Row, Table};
