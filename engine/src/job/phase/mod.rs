//! The phases of a job: map, then one of four ends, chosen by the output of the map phase.

pub mod join_choice;
pub mod join_table;
pub mod key_sample;
pub mod map_only;
pub mod map_output;
pub mod map_phase;
pub mod map_setup;
mod map_workers;
pub mod reduce;
pub mod resume;
pub mod running_job;
pub mod sorted;
mod spill_aside;
