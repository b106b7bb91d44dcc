//! Floor 7: batches of a split through a mapper into a sink.

pub mod combine_sink;
pub mod driver;
pub mod fold_sink;
pub mod folding;
pub mod identity;
pub mod timed_sink;

pub use driver::{MapCost, MapTask, map_split};
