//! Expressions over columns, in the syntax of SQL: conditions, arithmetic, a few functions.
//!
//! ```text
//!   text --> tokens --> tree --> typed tree --> vectors
//!            lexer.rs   parse.rs  bind.rs       evaluate.rs
//! ```

pub mod bind;
mod bounds;
mod evaluate;
mod functions;
mod lexer;
pub mod parse;
pub mod pattern;

pub use bind::{Field, Typed, bind, common};
pub use bounds::{bits_of, bound, bounds, list_of, within};
pub use evaluate::{Side, bits, rows_true, zip};
pub use functions::chars;
pub use parse::{Tree, parse, parse_list};

#[cfg(test)]
mod tests;
