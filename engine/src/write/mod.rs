//! Floor 7: records to bytes of the output, and part files that several workers fill in order.

pub mod encoder;
pub mod output;
pub mod part_file;
pub mod top;

pub use encoder::Encoder;
pub use output::{Output, OutputWriter};
pub use part_file::PartFile;
