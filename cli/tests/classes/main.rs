//! Jobs of class libraries: violations, ends of the process, their own formats, named outputs.

mod bad_records;
mod endings;
mod formats;
mod isolated;
mod libraries;
mod outputs;
#[path = "../support/mod.rs"]
mod support;
