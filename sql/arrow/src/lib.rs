//! Arrow's arrays, and tables of text that Arrow's readers read: the part of Arrow that the front end and the tasks of
//! a cluster share.
//!
//! ```text
//!   text.rs     files of CSV and JSON lines as a table
//!   csv.rs      records of CSV -> batches        json.rs   lines of JSON -> batches
//!   arrays.rs   vectors as arrays, and back      bytes.rs  bytes of a text, compressed or not
//!   limits.rs   sizes of reads and batches      memory.rs   memory of a reader
//!   failure.rs  errors of the readers
//! ```

pub mod arrays;
pub mod bytes;
mod csv;
mod failure;
mod json;
mod limits;
mod memory;
pub mod text;
