//! Operators: each takes the pipeline of its input and returns its own.
//!
//! ```text
//!   scan/         rows of a table: conditions first, then the other columns of the rows that are left
//!   aggregate/    groups and their states
//!   join/         tables of rows, and rows that look into them
//!   shared/       shared tables: their rows, and look-ups by keys
//!   sort/         rows in order, and the first of them
//!   window/       values from the rows around each row
//!   recursive.rs  a plan whose rows are its own input
//!   scalars.rs    values of plans that stand in expressions
//! ```

pub mod aggregate;
pub mod join;
pub mod recursive;
pub mod scalars;
pub mod scan;
pub mod shared;
pub mod sort;
pub mod window;
