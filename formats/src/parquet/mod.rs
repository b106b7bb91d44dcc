//! Parquet: row groups as units, columns by name or path.

mod bloom;
mod columns;
mod describe;
mod failure;
mod input;
mod metadata;
mod pages;
mod prune;
mod schema;
pub mod source;
pub mod writer;

#[cfg(fuzzing)]
pub use pages::check_snappy;
