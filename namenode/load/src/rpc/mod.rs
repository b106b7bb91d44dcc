//! Hadoop RPC as a client speaks it.

pub mod connection;
pub mod frame;
pub mod messages;
