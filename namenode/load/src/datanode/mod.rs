//! DataNodes without disks: registrations, heartbeats and block reports of a cluster.
//!
//! ```text
//!   fleet.rs  all DataNodes, on one thread: connections, the schedule of calls, new blocks from clients
//!   node.rs   one DataNode: its registration, its blocks, its next call
//! ```

pub mod fleet;
pub mod node;
