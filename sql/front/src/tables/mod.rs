//! Tables of files: Parquet, ORC, text and others, compressed, in directories, in stores.
//!
//! ```text
//!   place.rs        paths and options, as a query names them
//!   find.rs         their files, and the format of these
//!   partitions.rs   columns that directories name (`day=2026-11-01`)
//!   open.rs         a place -> file_table.rs
//!   text.rs         CSV and JSON lines
//!   classes.rs      files that a class of the library reads: for Yunti's own executor all of columns; shared tables
//!   class_scan.rs   the same rows for the general executor: ORC, Avro, Arrow, sequence files, shared tables
//!   world.rs        files that tables may read, and what reads them
//! ```

mod class_scan;
pub mod classes;
mod file_table;
mod find;
pub mod open;
pub mod partitions;
pub mod place;
mod text;
pub mod world;

pub use file_table::{FileTable, Reading};
