//! Floor 7: batches of a split through a mapper into a sink.

pub mod combine_sink;
pub mod driver;
pub mod fold_sink;
pub mod identity;
pub mod timed;

pub use driver::{MapTask, map_split};
