//! Text for people: numbers, tables, the report. Nothing here knows where it is printed.

pub mod compare;
pub mod numbers;
pub mod report;
pub mod table;
pub mod timeline;
