//! The end of a job with a reduce: one of four, by the output of the map phase (`sorted.rs`); and the task of a
//! partition.

pub mod buckets;
pub mod runs;
pub mod table_runs;
pub mod tables;
pub mod task;
