//! Curves: several runs, one after the other.

pub mod steps;
pub mod sweep;
