//! The cause that bounds a process: cheap measurements side by side, then details where they suggest it, then causes.
//! The details are measured by other commands, so they are in `command/why/details.rs`.
//!
//! ```text
//!   measure/   first measurement: everything that is cheap, side by side
//!   facts/     results of both measurements
//!   requests/  requests under way on connections, and their causes
//!   account/   kinds of wait, and what N units wait for and M have
//!   causes/    causes, each with cost, evidence and cure
//!   verdict.rs the answer: causes, or why there are none
//! ```

pub mod account;
pub mod causes;
pub mod facts;
pub mod measure;
pub mod requests;
mod verdict;

pub use account::waiting::Waiting;
pub use causes::finding::Finding;
pub use causes::growth::growth_notes;
pub use facts::{Facts, FaultSummary};
#[cfg(test)]
pub use facts::{Moment, ThreadFacts};
pub use measure::watch::watch;
pub use verdict::{Verdict, verdict};
