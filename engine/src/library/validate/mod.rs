//! Checks of data that somebody else has written or sorted.

pub mod tera;

pub use tera::{Misorder, TeraFile, TeraFileSummary, TeraSummary, TeraValidator};
