//! Requests of a warm-up profile, and the client that sends them to a server.
//!
//! ```text
//!   requests.txt -> request.rs -> closed_loop.rs  each connection sends the next request after the last answer
//!                              -> open_loop.rs    requests at given times, however slow the answers are
//!                                     `-> client.rs  one connection of HTTP/1.1
//! ```
//!
//! The crate has no `unsafe` and starts no process, because it also runs in the process of the server (`warmup/gate/`).

pub mod client;
pub mod closed_loop;
pub mod open_loop;
pub mod request;
