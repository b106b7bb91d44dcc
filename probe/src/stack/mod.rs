//! Call stacks with their costs, merged to a tree.

mod frame;
mod tree;

pub use frame::{Frame, KINDS, Kind};
pub use tree::Tree;
