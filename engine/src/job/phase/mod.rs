//! The phases of a job: map, then one of four ends, chosen by the output of the map phase.

pub mod key_sample;
pub mod map_only;
mod map_output;
pub mod map_phase;
pub mod map_setup;
mod map_workers;
mod reduce_buckets;
mod reduce_runs;
mod reduce_table_runs;
mod reduce_tables;
pub mod reduce_task;
pub mod running_job;
pub mod sorted;
