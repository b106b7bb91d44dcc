//! Memory of a JVM: address ranges of its areas, and the objects in its heap.

mod areas;
mod histogram;

pub use areas::areas;
pub use histogram::{Counted, Histogram};
