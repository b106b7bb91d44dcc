//! Floor 7: from splits of the input to batches of records.

pub mod ahead;
pub mod bzip2_split;
mod bzip2_walk;
pub mod class_parser;
pub mod fixed_reader;
pub mod foreign;
pub mod reader;
pub mod source;
pub mod split;

pub use fixed_reader::FixedReader;
pub use reader::{ReadSetup, SplitReader};
pub use split::{Piece, Split};
