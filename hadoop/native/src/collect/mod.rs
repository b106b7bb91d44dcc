//! A map task's output: collected and sorted by the engine, written as IFile.

pub mod combine;
pub mod map_output;
pub mod sorted;
pub mod spill;

pub use combine::{Combine, Feed};
pub use map_output::{Finished, MapOutput, Settings};
