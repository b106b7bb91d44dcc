//! Recorded profiles of services: slices of some seconds in a folder, and what changed between two periods.
//!
//! ```text
//!   recorder -> slice/ -> format/pprof -> store/ -> changes/ -> findings
//!                 ^         format/otlp, collapsed    `-> statistics/
//!                 `-------- merge
//! ```
//!
//! A store is a folder of immutable files, one a slice (docs/formats/slice.md), and needs no server. The crate starts
//! no profiler and prints nothing. No input makes a reader panic.

#![forbid(unsafe_code)]

mod changes;
mod format;
mod merge;
mod slice;
pub mod statistics;
mod store;
mod time;

pub use changes::{Began, Change, Changes, Common, Mostly, Part, Period, Question, Unit, Visible, Windows};
pub use format::{collapsed, otlp, pprof};
pub use merge::{Heatmap, Merged};
pub use slice::{Counter, Facts, Frame, FrameKind, Gc, Measure, Service, Slice, Stacks};
pub use store::{DAY_BYTES_MAX, Entry, Place, Query, Status, Store, fetch};
pub use time::{date_of, date_time_of};
