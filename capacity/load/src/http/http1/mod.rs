//! HTTP/1.1 over epoll: one thread drives all its connections.
//!
//! ```text
//!   driver.rs   rounds: events -> answers -> requests that are due -> sends
//!     |-> slot.rs     a place for a connection: its state, request and answer
//!     `-> stream.rs   bytes of a connection, plain or TLS
//! ```

pub mod driver;
mod slot;
pub mod stream;
