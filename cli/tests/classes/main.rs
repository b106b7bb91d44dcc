//! Jobs of class libraries and programs: violations, ends of the process, their own formats, named outputs.

mod bad_records;
mod endings;
mod formats;
mod isolated;
mod libraries;
mod outputs;
mod programs;
mod rust;
#[path = "../support/mod.rs"]
mod support;
mod tables;
mod wild_workers;
