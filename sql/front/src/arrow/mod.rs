//! Columns of Yunti's executor as arrays of Arrow, and back.

pub mod arrays;

pub use arrays::{array, batch_of, record_batch, vector};
