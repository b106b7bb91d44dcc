//! Yunti's engine: a data job on one node, from input splits to committed output.
//!
//! The modules are floors; each imports only from floors below it (ARCHITECTURE.md, checked by
//! `tools/tidy/`).

#![allow(clippy::len_without_is_empty, reason = "no caller compares the length of a file, block or bucket with 0")]

pub mod abi;
pub mod bytes;
pub mod codec;
pub mod collect;
pub mod columns;
pub mod env;
pub mod fold;
pub mod format;
pub mod isolate;
pub mod job;
pub mod key_order;
pub mod library;
pub mod map;
pub mod memory;
pub mod operator;
pub mod read;
pub mod run;
pub mod streaming;
pub mod write;
