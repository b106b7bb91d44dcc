//! Shared tables: one file with a hash index and rows, mapped by every process that looks up its keys.
//!
//! ```text
//!   builder/ rows of a source -> keys -> perfect index -> rows in the order of the index -> file, renamed into place
//!   read/    file -> mapped bytes -> key -> slot -> row -> values
//!   index/   key -> slot: one byte for about three keys, no two keys in one slot
//!   format/  header, schema, rows and checksums: docs/formats/ytab.md
//! ```
//!
//! Nothing is decoded when a table is opened: a lookup reads the bytes of the file. So N processes have one copy, in
//! the page cache, and no collector sees it.

pub mod builder;
pub mod format;
pub mod index;
pub mod read;
