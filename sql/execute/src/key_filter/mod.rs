//! Filters on keys: what the table of a join knows of the other side's rows, on its way down to their scans.
//!
//! ```text
//!   join              rows of the build side --> set of the values of each key
//!    |                                               |
//!   project, filter, join, aggregate, ..             |   as far as the column passes unchanged
//!    |                                               v
//!   scan              bounds for row groups and pages; rows outside the set go no further
//!
//!   set.rs      values of a key, as bits or as a Bloom filter
//!   reach.rs    columns of an operator's inputs that a filter on its output may be moved to
//!   test.rs     rows of batches within the sets
//! ```
//!
//! A row that a filter removes finds no partner in the join that the filter comes from. An operator on the way may see
//! the row or not: what it makes of it has the same key, and goes no further than that join. So results are the same
//! wherever a filter is applied, and a filter that removes little is laid aside.

pub mod reach;
pub mod set;
pub mod test;

use std::sync::Arc;

use set::KeySet;

/// A filter on a column of an operator's output.
#[derive(Clone)]
pub struct KeyFilter {
    pub column: usize,
    pub set: Arc<KeySet>,
}
