//! The terminal output of a running job.

pub mod progress;
pub mod stdout_watch;

pub use yunti_program::terminal::{is_rich, paint, signals, stdout, width};
