//! Garbage collection logs of HotSpot: parsed in one pass, summed, and explained.
//!
//! ```text
//!   files -> read/ -> model/ -> summary -> young -> finding/ -> verdict, comparison
//!             |-> unified/  lines of JDK 9 and later
//!             `-> legacy/   lines of JDK 8
//! ```
//!
//! A line that no parser knows is counted and skipped. No input makes the parsers panic. Memory grows with the number
//! of pauses only, up to [`log::EVENTS_MAX`] of them.

#![forbid(unsafe_code)]

pub mod comparison;
pub mod finding;
mod model;
mod read;
mod scan;
pub mod summary;
mod verdict;
pub mod young;

pub use comparison::Comparison;
pub use finding::{Finding, findings};
pub use model::collector::Collector;
pub use model::event::{Change, Event, Kind};
pub use model::log::Log;
pub use model::{event, heap, log};
pub use read::{Parser, parse, read};
pub use summary::Summary;
pub use verdict::verdict;
