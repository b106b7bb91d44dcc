//! Contents of a log: events, the heap over time, settings, and their sums.

pub mod collector;
pub mod event;
pub mod heap;
pub mod log;
