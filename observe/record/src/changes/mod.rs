//! Changes between two periods: which functions grew, by how much a request, and how sure that is.
//!
//! ```text
//!   slices -> windows: blocks of time with costs by stack -> series: cost a request, by function and block
//!     -> factors: slower hosts, other mixes of requests, removed -> shift: before against after, by time of day
//!     -> causes: a caller that grew because of its callee is no finding -> begin: the moment, the release
//!     -> report        compare does all of it
//! ```
//!
//! docs/decisions/record.md has the reasons and what was measured.

mod begin;
mod causes;
mod compare;
mod factors;
mod question;
mod report;
mod series;
mod shift;
mod visible;
mod windows;

pub use begin::Began;
pub use question::{Period, Question, Unit};
pub use report::{Change, Changes, Common, Mostly, Part};
pub use visible::Visible;
pub use windows::Windows;
