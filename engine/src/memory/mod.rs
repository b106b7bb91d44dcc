//! Floor 2: memory, bounded: one budget for the process's jobs, and the pool of blocks that records live in.

pub mod budget;
pub mod buffer;
pub mod pool;

pub use budget::{Budget, Grant};
pub use buffer::Buffer;
pub use pool::{Block, Pool};
