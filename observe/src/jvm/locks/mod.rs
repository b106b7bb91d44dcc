//! Our agent that writes down waits for locks, and the memory that it writes into.

mod agent;
mod shared_memory;

pub use agent::{IS_VIRTUAL, LockAgent, Wait, WaitKind};
