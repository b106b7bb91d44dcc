//! Answers from an analysed heap: single objects, paths from roots, suspects, threads, changes; copies without
//! contents.

pub mod object;
pub mod path;
pub mod redact;
pub mod summary;
pub mod suspects;
pub mod threads;
pub mod waste;
