//! Model of the heap: classes, sizes, roots, and what a scan finds.

pub mod class;
pub mod kinds;
pub mod name;
pub mod roots;
pub mod sizes;
