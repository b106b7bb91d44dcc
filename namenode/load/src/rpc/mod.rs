//! Client side of Hadoop RPC.

mod buffer_pool;
pub mod connection;
pub mod datanode_messages;
pub mod epoll;
pub mod frame;
mod input;
pub mod messages;
pub mod replay_messages;
mod ring;
pub mod wire;
