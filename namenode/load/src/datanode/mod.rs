//! DataNodes that have no disks: what a NameNode sees of a cluster.
//!
//! ```text
//!   fleet.rs  all of them, on one thread: connections, when each is due, what clients tell of new blocks
//!   node.rs   one of them: who it is, what it holds, what it has to say next
//! ```

pub mod fleet;
pub mod node;
