//! A reduce task's input: fetched segments in memory or on disk, merged when all are complete.

pub mod fetched_segment;
pub mod reduce_input;

pub use fetched_segment::FetchedSegment;
pub use reduce_input::{ReduceInput, ReduceSettings};
