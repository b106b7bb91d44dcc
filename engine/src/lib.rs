//! Yunti's engine: a data job on one node, from input splits to committed output.
//!
//! The modules are floors; each imports only from floors below it (ARCHITECTURE.md, checked by
//! `engine/tests/tidy.rs`).

pub mod base;
pub mod env;
pub mod memory;
pub mod operator;
