//! Checks of the fuzz targets. The engine's tests replay the committed corpora through the same functions.

pub mod bzip2_split;
pub mod class_library;
pub mod csv;
pub mod decoders;
pub mod framed;
#[path = "job/file.rs"]
pub mod job_file;
#[path = "job/journal.rs"]
pub mod job_journal;
pub mod json;
pub mod lz4_block;
pub mod parts;
pub mod run_block;
pub mod typed_bytes;
