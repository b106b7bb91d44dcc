//! Floor 2: bounded memory: one budget for the jobs of a process, and the pool of blocks that hold records.

pub mod budget;
pub mod buffer;
pub mod pool;

pub use budget::{Budget, Grant};
pub use buffer::Buffer;
pub use pool::{Block, Pool};
