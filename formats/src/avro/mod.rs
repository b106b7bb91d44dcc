//! Avro object container files: blocks as units, columns by name or path.

mod blocks;
mod builder;
#[cfg(any(test, fuzzing))]
pub mod check;
mod column;
mod describe;
mod encode;
mod header;
mod input;
mod json;
mod names;
mod schema;
pub mod source;
pub mod writer;
