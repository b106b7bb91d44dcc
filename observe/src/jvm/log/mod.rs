//! The JVM's own log (`-Xlog`), which can be changed at run time: pauses are logged, and a warning is silenced.

mod pauses;
mod warnings;

pub use pauses::{Pause, PauseLog};
pub use warnings::{SilencedWarnings, restore_warnings};
