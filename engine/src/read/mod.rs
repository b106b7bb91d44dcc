//! Floor 7: from splits of the input to batches of records.

pub mod byte_source;
pub mod bzip2;
pub mod class_parser;
pub mod decoded_file;
pub mod fixed_reader;
pub mod foreign;
pub mod mapped_input;
pub mod parts;
pub mod read_ahead;
pub mod reader;
pub mod source_reader;
pub mod split;

pub use fixed_reader::FixedReader;
pub use read_ahead::ReadAhead;
pub use reader::{ReadSetup, SplitReader};
pub use split::{Piece, Split};
