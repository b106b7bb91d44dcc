//! Graph of objects: numbers, the forest of single referrers, what joins need of it, dominators.

pub mod bits;
pub mod contract;
pub mod dominators;
pub mod forest;
pub mod hash;
pub mod ids;
pub mod join_references;
pub mod minimum;
pub mod pairs;
pub mod side_by_side;
