//! Validators of data that another program has written or sorted.

pub mod tera;

pub use tera::{Misorder, TeraFile, TeraFileSummary, TeraSummary, TeraValidator};
