//! IFile: Hadoop's format of sorted map output, as ShuffleHandlers serve it and reducers merge it.

pub mod writer;

pub use writer::{OutputFile, Segment};
