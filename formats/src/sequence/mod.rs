//! SequenceFiles of Hadoop: pairs of a key and a value, with markers between them, at which units begin.

mod codec;
mod header;
mod records;
pub mod source;
mod window;
mod writable;
pub mod writer;
