//! Flat columns from their pages straight to blocks of columns: no array stands between, and a row that the bounds of a
//! scan exclude is not decoded in the other columns.
//!
//! ```text
//!   page index               rows of pages that no bound allows are passed over
//!   column chunk --> window --> pages (read/: headers, checksums, codecs)
//!   columns with bounds      codes of n rows, each value of the dictionary tested once --> rows that may count
//!   the other columns        values of those rows alone; pages without one are not decompressed
//!   both                     --> block of a few thousand rows
//! ```
//!
//! Nested columns, and types without a shape of their own in a block, are left to the crate's decoder.

mod block;
mod column;
mod delta;
mod dictionary;
mod form;
mod hybrid;
mod index;
mod page;
mod plain;
mod read;
mod unit;

#[cfg(fuzzing)]
pub use read::check_snappy;
pub use unit::{Unit, window_bytes};
