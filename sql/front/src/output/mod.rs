//! Rows of results, written: to a terminal, as text, as files of columns.
//!
//! ```text
//!   format.rs    names of formats, and the encoder of each
//!   text.rs      values as CSV and JSON
//!   table.rs     an aligned table for people
//!   file.rs      an output file or directory, which appears complete or not at all
//! ```

pub mod file;
pub mod format;
pub mod table;
pub mod text;

pub use file::FileWriter;
pub use format::{Encoder, Format};
