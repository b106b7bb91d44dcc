//! Tables beyond the memory of one node: a server that answers lookups over sockets, and its client.
//!
//! ```text
//!   server/    sockets -> frames -> lookups in mapped tables -> frames
//!   client/    keys -> shards -> servers -> rows; replicas take over
//!   tls.rs     certificates and keys -> configurations of rustls
//!   address.rs unix:PATH and HOST:PORT
//!   protocol/  frames and messages: docs/formats/table-protocol.md
//! ```

pub mod address;
pub mod client;
mod protocol;
pub mod server;
pub mod tls;
