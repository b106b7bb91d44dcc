//! Sockets as the kernel lists them, by netlink (sock_diag(7)).
//!
//! ```text
//!   message.rs    requests to the kernel and the messages of its answers
//!   sock_diag.rs  TCP and UDP sockets
//! ```

mod message;
pub mod sock_diag;

pub use message::{Netlink, SOCK_DIAG_BY_FAMILY, TCPDIAG_GETSOCK, attributes, u32_at, u64_at};
