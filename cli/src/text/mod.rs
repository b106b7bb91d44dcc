//! Text for people: the report and the comparison of two. Nothing here knows where it is printed.

pub mod compare;
pub mod report;
pub mod timeline;

pub use yunti_program::text::{numbers, table};
