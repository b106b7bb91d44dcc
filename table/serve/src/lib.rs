//! Tables beyond the memory of one node: a server that answers lookups over sockets.
//!
//! ```text
//!   server/    sockets -> frames -> lookups in mapped tables -> frames
//!   tls.rs     certificates and keys -> a configuration of rustls
//! ```
//!
//! Addresses and the protocol are those of the client: `yunti-table-remote`.

pub mod server;
pub mod tls;
