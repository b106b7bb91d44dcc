//! Load on HTTP servers: open and closed loops, access logs, steps until the knee.
//!
//! ```text
//!   plan.rs --run.rs--> threads, each with a lane.rs: arrivals (schedule/) -> queue -> connections -> tally/
//!                          |-> http1/   epoll; answers read by answer/
//!                          `-> http2/
//!             each second of all threads --guard.rs--> continue, halve the rate, stop
//!           --> report.rs
//!   curve/    several runs: steps of a rate until the knee, sweeps over numbers of clients
//!   request/  access_log/  target.rs  trust.rs: what is sent, and where
//! ```

pub mod access_log;
mod answer;
pub mod curve;
pub mod guard;
mod http1;
mod http2;
mod lane;
pub mod plan;
pub mod report;
pub mod request;
mod run;
pub mod schedule;
pub mod tally;
pub mod target;
mod timer;
pub mod trust;

pub use run::run;
