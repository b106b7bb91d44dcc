//! Store: a folder of immutable slices, one file each.

mod entry;
mod folder;
mod remote;
mod walk;

pub use entry::{Entry, Query};
pub use folder::{DAY_BYTES_MAX, Status, Store};
pub use remote::{Place, fetch};
