//! Network of a process: its namespace, sockets and ports.
//!
//! ```text
//!   namespace.rs  running code in the process's network namespace
//!   sockets.rs    its sockets, by side
//!   ports.rs      counters of connections, ephemeral ports in use
//! ```

mod namespace;
pub mod ports;
pub mod sockets;

pub use namespace::in_network_of;
