//! Floor 6, folding

mod arena;
mod batch;
mod hash;
pub mod insert;
pub mod merge;
mod probe;
mod slot;
pub mod table;

pub use insert::{FusedMapper, Inserter};
pub use merge::{Merge, Unmerged, Worker};
pub use table::{FoldTable, Folded, RefEntry};

#[cfg(test)]
mod tests;
