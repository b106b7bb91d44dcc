//! Who called whom, and what it cost: stacks of samples, put together as a tree.

mod frame;
mod tree;

pub use frame::{Frame, KINDS, Kind};
pub use tree::Tree;
