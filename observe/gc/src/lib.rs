//! Garbage collection logs of HotSpot: parsed in one pass, summed, and explained.
//!
//! ```text
//!   files -> source -> parser -> unified (JDK 9 and later) or legacy (JDK 8) -> Log -> Summary -> findings
//! ```
//!
//! A line that no parser knows is counted and skipped. No input makes the parsers panic. Memory grows with the number
//! of pauses only, up to [`log::EVENTS_MAX`] of them.

#![forbid(unsafe_code)]

pub mod collector;
pub mod comparison;
pub mod event;
pub mod finding;
pub mod heap;
mod legacy;
pub mod log;
pub mod parser;
mod scan;
pub mod source;
mod stamp;
pub mod summary;
mod unified;
mod verdict;
pub mod young;

pub use collector::Collector;
pub use comparison::Comparison;
pub use event::{Change, Event, Kind};
pub use finding::{Finding, findings};
pub use log::Log;
pub use parser::Parser;
pub use source::read;
pub use summary::Summary;
pub use verdict::verdict;
