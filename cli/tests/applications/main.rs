//! The ready applications compared with plain programs: over lines, and over columns.

mod columns;
mod lines;
mod partitions;
mod servers;
#[path = "../support/mod.rs"]
mod support;
mod tables;
