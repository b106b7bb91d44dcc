//! Causes in connections.
//!
//! ```text
//!   connections.rs  full accept queues, exhausted ports
//!   wire.rs         slow receivers, small segments, loss
//! ```

pub mod connections;
pub mod wire;
