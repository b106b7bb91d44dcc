//! IFile, Hadoop's format of sorted map output: ShuffleHandlers serve it and reducers merge it.

pub mod reader;
pub mod writer;

pub use reader::SegmentReader;
pub use writer::{OutputFile, Segment};
