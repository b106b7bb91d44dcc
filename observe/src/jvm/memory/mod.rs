//! Memory of a JVM: address ranges of its areas, the objects in its heap, and what keeps some of them alive.

mod areas;
mod heap_dump;
mod histogram;
mod old_objects;

pub use areas::areas;
pub use heap_dump::HeapDump;
pub use histogram::{Counted, Histogram};
pub use old_objects::{OldObject, OldObjects};
