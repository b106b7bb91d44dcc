//! Load on HTTP servers: open and closed loops, access logs, steps until the knee.
//!
//! ```text
//!   plan.rs --run.rs--> threads, each with a lane.rs: arrivals (schedule/) -> queue -> connections (http/) -> tally/
//!             each second of all threads --guard.rs--> continue, halve the rate, stop
//!           --> report.rs
//!   curve/    several runs: steps of a rate until the knee, sweeps over numbers of clients
//!   request/  what is sent: one request, or an access log
//!   server/   where: the address, its certificate
//! ```
//!
//! A caller makes a [`plan::Plan`] and calls [`run`]. It gets each second while the run goes on, and a
//! [`report::Report`] at the end. It can set the flag of the call to stop the run at any time.

pub mod curve;
pub mod guard;
mod http;
mod lane;
pub mod plan;
pub mod report;
pub mod request;
mod run;
pub mod schedule;
pub mod server;
pub mod tally;

pub use run::run;
