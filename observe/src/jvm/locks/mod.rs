//! The lock agent, and the shared memory that it writes.

mod agent;
mod shared_memory;

pub use agent::{IS_VIRTUAL, LockAgent, Wait, WaitKind};
