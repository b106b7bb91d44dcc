//! A table that is mapped.
//!
//! ```text
//!   mapping.rs   the bytes of the file, prefetches: the only unsafe code
//!   checked.rs   blocks whose checksums were found right
//!   table.rs     a table, opened, reopened, verified
//!   lookup.rs    key -> slot -> rows, one or many at a time
//!   rows.rs      rows and their values; rows of one slot; all rows
//!   value.rs     values as JSON
//!   range.rs     keys between two others, keys that begin alike
//! ```

mod checked;
mod lookup;
mod mapping;
mod range;
mod rows;
mod table;
mod value;

pub use mapping::Options;
pub use range::Limits;
pub use rows::{FixedColumn, Row, Rows};
pub use table::Table;
