//! HTTP/2 over tokio and the crate h2: one thread has one runtime, and a task for each connection and request.
//!
//! ```text
//!   driver.rs   requests that are due -> tasks of exchange.rs -> answers -> figures
//!     |-> opening.rs    a connection: TCP, TLS, the preface of HTTP/2
//!     `-> exchange.rs   one request and its answer
//! ```
//!
//! This client costs several times as much per request as `http1`. Its own share is in the report.

pub mod driver;
mod exchange;
mod opening;
