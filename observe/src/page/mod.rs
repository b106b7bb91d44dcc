//! Answers as pages.

mod flame;

pub use flame::flame;
