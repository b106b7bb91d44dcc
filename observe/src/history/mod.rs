//! Recorded slices, as commands read them: by words for times, from a folder, from another host, or from one file.
//!
//! ```text
//!   when.rs    times in words: `03:10`, `yesterday`, `-2h`, `03:00..03:20`
//!   source.rs  stores and files to read
//!   file.rs    files of other tools
//!   service.rs choice of a service, and of its slices at a time
//! ```

mod file;
mod service;
mod source;
mod when;

pub use file::{Format, Units, read, recorded, tree};
pub use service::{SLICE_MS_MAX, choose, slices_at, take};
pub use source::{Source, default_store};
pub use when::{Span, SpanKind, clock, length, moment, span};
