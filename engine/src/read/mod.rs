//! Floor 7: from splits of the input to batches of records.

pub mod reader;
pub mod source;
pub mod split;

pub use reader::{ReadSetup, SplitReader};
pub use split::{Piece, Split};
