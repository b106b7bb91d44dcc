//! Comparison of a measurement with the history before it. It starts nothing and reads no file.
//!
//! ```text
//!   Record -> day.rs       one day: costs by request, without its bad windows
//!             baseline.rs  the days to compare with
//!             forecast.rs  what a figure should be today, and how sure that is
//!             factor.rs    the factor that all functions share: the host, not the program
//!             starts.rs    how much two starts of equal code differ
//!             service.rs   rules: processor time, bytes, 99th percentile, peak
//!             functions.rs tests of all functions
//!             causes.rs    the functions that grew, without cost that only moved
//!             levels.rs    where levels of a series begin
//!             steps.rs     days at which a figure changed its level
//!             comparison.rs all of it
//! ```
//!
//! The unit of comparison is the day. Windows of a day share its host, its code and its requests, so they say nothing
//! about how days differ (docs/decisions/watch.md).

mod baseline;
mod causes;
mod comparison;
mod day;
mod factor;
mod forecast;
mod functions;
mod levels;
mod service;
#[cfg(test)]
mod simulation;
#[cfg(test)]
mod simulation_test;
mod starts;
mod steps;

pub use baseline::Against;
pub use causes::Cause;
pub use comparison::{Comparison, Failing, compare};
pub use day::Day;
pub use functions::Change;
pub use service::{Figure, Rule, Verdict};
pub use steps::Step;
