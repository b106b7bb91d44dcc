//! A map task's output: collected and sorted by the engine, written as IFile.

pub mod map_output;
pub mod spill;

pub use map_output::{Finished, MapOutput, Settings};
