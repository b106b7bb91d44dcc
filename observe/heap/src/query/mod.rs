//! Queries over the objects of a heap, in a subset of the object query language (OQL) of Eclipse MAT.
//!
//! ```text
//!   text -> parse -> Query        expression  what an object's fields and attributes are worth
//!                    run          candidates in one reading, then objects that they refer to, batch by batch
//! ```

pub mod expression;
pub mod parse;
pub mod run;

pub use expression::Value;
pub use parse::{Problem, Query};
pub use run::{Answered, run};
