//! Floor 3: typed columns of some thousand rows at a time, and what can be computed over them: expressions, keys of
//! several columns, aggregates. A mapper over columns takes blocks of a source, or records of text that it parses.
//!
//! ```text
//!   block of a source, or records of text --> vectors --> condition --> expressions --> groups and their states
//!   block.rs             input.rs, text.rs   vector.rs   expression/                   grouping.rs, aggregate/
//! ```

pub mod aggregate;
pub mod block;
pub mod expression;
pub mod grouping;
pub mod input;
pub mod kind;
pub mod normal;
pub mod select;
pub mod settings;
pub mod text;
pub mod top;
pub mod vector;
