//! Base of the engine and of every program: errors with stable codes, cancellation, directory health, atomic files,
//! mounts, lists of the kernel, and patterns of URLs.
//!
//! This crate contains nothing about records or jobs, so a program that only reads counters is not rebuilt when a sort
//! changes. The crate `yunti-program`, in the folder `program/`, adds arguments, terminals and pages for command-line
//! programs. It is a separate crate because the engine also runs inside a JVM, without a command line.

pub mod cancel;
pub mod descriptors;
pub mod directory_health;
pub mod error;
pub mod kernel_list;
pub mod mounts;
pub mod path_pattern;
pub mod process;
pub mod store_protocol;
pub mod whole_file;

pub use cancel::Cancel;
pub use error::{Code, Error, Result};
