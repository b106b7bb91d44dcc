//! Bytes of a table: docs/formats/ytab.md. All numbers are little-endian.
//!
//! ```text
//!   header.rs   the first 4096 bytes: counts, places of the sections, checksum
//!   group.rs    where the rows of 16 slots are
//!   schema.rs   columns: names, types, keys
//!   row.rs      bytes of one row
//!   values.rs   text of one value -> its bytes, and back
//!   json.rs     values as JSON
//!   sums.rs     CRC-32C of each block
//! ```

pub mod group;
pub mod header;
pub mod json;
pub mod row;
pub mod schema;
pub mod sums;
pub mod values;

pub use header::Header;
pub use schema::{Column, Kind, Schema};
