//! Floor 7: records to bytes of the output, compressed if wanted, and part files that several workers fill in order.

pub mod class_writing;
pub mod columned;
pub mod compressing;
pub mod encoder;
pub mod output;
pub mod part_file;
pub mod top;

pub use compressing::Compressing;
pub use encoder::Encoder;
pub use output::{Output, OutputWriter};
pub use part_file::PartFile;
