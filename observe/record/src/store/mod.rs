//! Store: a folder of immutable slices, one file each.

mod entry;
mod folder;

pub use entry::{Entry, Query};
pub use folder::{Status, Store};
