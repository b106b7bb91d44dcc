//! A map task's output: collected and sorted by the engine, written as IFile.

pub mod map_output;
#[cfg(test)]
mod map_output_test;
pub mod spill;
pub mod sum_table;

pub use map_output::{MapOutput, MapOutputTotals, Settings, UserCode};
