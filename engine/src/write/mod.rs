//! Floor 7: records to bytes of the output, compressed if requested, and part files that several workers fill in order.

pub mod class_encoder;
pub mod column_encoder;
pub mod compressor_pool;
pub mod directories;
pub mod encoder;
pub mod output;
pub mod part_file;
pub mod top;
pub mod value_text;

pub use compressor_pool::CompressorPool;
pub use encoder::Encoder;
pub use output::{FinishedWriter, Output, OutputWriter};
pub use part_file::PartFile;
