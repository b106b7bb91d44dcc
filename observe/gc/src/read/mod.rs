//! Reader of logs: files, lines, and the two forms of lines.

mod legacy;
mod parser;
mod source;
mod stopped;
mod unified;

pub use parser::Parser;
pub use source::{parse, read};
pub use unified::is_collection;
