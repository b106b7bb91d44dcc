//! Columns of Yunti's executor as arrays of Arrow, and back.

pub mod arrays;

pub use arrays::{batch_of, record_batch};
