//! Hadoop RPC as a client speaks it.

pub mod connection;
pub mod datanode_messages;
pub mod frame;
mod input;
mod lent;
pub mod messages;
pub mod polled;
mod ring;
pub mod wire;
