//! The JVM's own log (`-Xlog`), which can be changed at run time: it goes to a file, and a warning is silenced.

mod collections;
mod file;
mod pauses;
mod warnings;

pub use collections::CollectionLog;
pub use file::LogFile;
pub use pauses::{Pause, PauseLog, overlaps};
pub use warnings::{SilencedWarnings, restore_warnings};
