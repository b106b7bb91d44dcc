//! Jobs of class libraries: what they must not do, formats of their own, named outputs.

mod formats;
mod libraries;
mod outputs;
#[path = "../support/mod.rs"]
mod support;
