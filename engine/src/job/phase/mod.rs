//! The phases of a job: map, then one of the three ends, chosen by what the map phase left.

mod finish_memory;
mod finish_runs;
mod finish_table_runs;
mod finish_tables;
pub mod map_only;
mod map_workers;
mod mapped;
pub mod mapping;
pub mod reducing;
pub mod running;
pub mod sample;
pub mod sorted;
