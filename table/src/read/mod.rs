//! A table that is mapped.
//!
//! ```text
//!   mapping.rs   the bytes of the file, prefetches
//!   direct.rs    the reads of lookups, once all that they read was checked; with mapping.rs the only unsafe code
//!   checked.rs   blocks whose checksums were found right
//!   key_shape.rs how a key is compared with a row
//!   head.rs      header and schema of a table that another process maps
//!   table.rs     a table, opened, reopened, verified
//!   lookup.rs    key -> slot -> rows, one or many at a time
//!   rows.rs      rows and their values; rows of one slot; all rows
//!   value.rs     values as JSON
//!   range.rs     keys between two others, keys that begin alike
//! ```

mod checked;
mod direct;
mod head;
mod key_shape;
mod lookup;
mod mapping;
mod range;
mod rows;
mod table;
mod value;

pub use head::Head;
pub use mapping::Options;
pub use range::Limits;
pub use rows::{FixedColumn, Row, Rows};
pub use table::Table;
