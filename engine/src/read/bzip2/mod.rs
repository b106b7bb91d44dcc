//! Splits of bzip2 files: blocks are found by their marks, at any bit.

pub mod split;
mod walk;
