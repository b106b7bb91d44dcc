//! Hadoop RPC as a client speaks it.

pub mod connection;
pub mod datanode_messages;
pub mod frame;
pub mod messages;
