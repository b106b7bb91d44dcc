//! Schedule: which watches are due, and the loop that measures them one after another.
//!
//! ```text
//!   due.rs      local times of day, over changes of the clock
//!   measure.rs  one measurement: lock, collect, store, compare, hook
//!   daemon.rs   the loop
//! ```

mod daemon;
mod due;
mod measure;

pub use daemon::run;
pub use due::parse_daily;
pub use measure::{Measured, days_of, measure};
