//! Text for people: the report, and the comparison of two reports. The module does not depend on the output device.

pub mod compare;
pub mod report;
pub mod spills;
pub mod timeline;

pub use yunti_program::text::{numbers, table};

/// Returns a line of a list: two blanks, the name in `width` columns, and what it is.
pub fn named_line(width: usize, name: &str, about: &str) -> String {
    format!("  {name:width$} {about}\n")
}
