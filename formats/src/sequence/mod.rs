//! SequenceFiles of Hadoop: pairs of a key and a value, with markers between them, at which units begin.

#[cfg(any(test, fuzzing))]
pub mod check;
mod codec;
mod header;
mod records;
pub mod source;
mod window;
mod writable;
pub mod writer;
