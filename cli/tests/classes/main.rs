//! Jobs of class libraries: what they must not do, how they end a process, formats of their own, named outputs.

mod endings;
mod formats;
mod libraries;
mod outputs;
#[path = "../support/mod.rs"]
mod support;
