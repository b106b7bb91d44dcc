//! Text for people: the report, and the comparison of two reports. The module does not depend on the output device.

pub mod compare;
pub mod report;
pub mod timeline;

pub use yunti_program::text::{numbers, table};
