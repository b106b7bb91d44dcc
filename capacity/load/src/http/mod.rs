//! HTTP: drivers that send the requests of a lane and read the answers.
//!
//! ```text
//!   http1/   epoll; answers read by answer/
//!   http2/   tokio and h2
//!   timer.rs wake-ups finer than the milliseconds of epoll
//! ```

mod answer;
pub mod http1;
pub mod http2;
mod timer;
