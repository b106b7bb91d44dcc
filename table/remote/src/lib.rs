//! Tables that servers have: the client, and the protocol that servers speak too.
//!
//! ```text
//!   client/    keys -> shards -> servers -> rows; replicas take over
//!   tls.rs     certificates of authorities -> a configuration of rustls
//!   pem.rs     files of certificates and keys
//!   token.rs   files of tokens
//!   address.rs unix:PATH and HOST:PORT
//!   protocol/  frames and messages: docs/formats/table-protocol.md
//! ```

pub mod address;
pub mod client;
pub mod pem;
pub mod protocol;
pub mod tls;
pub mod token;
