//! A reduce task's input: segments as they were fetched, in memory or on disk, merged when all are there.

pub mod fetched;
pub mod reduce_input;

pub use fetched::Fetched;
pub use reduce_input::{ReduceInput, ReduceSettings};
