//! Report of a comparison: text, JSON (docs/formats/watch.schema.json), a page with the history, JUnit XML.

mod charts;
pub mod document;
mod figure;
pub mod junit;
pub mod page;
pub mod text;
