//! Answers from an analysed heap: single objects, paths from roots, suspects, groups, threads, changes; copies without
//! contents.

pub mod contents;
pub mod groups;
pub mod loaders;
pub mod object;
pub mod path;
pub mod redact;
pub mod referrers;
pub mod summary;
pub mod suspects;
pub mod threads;
pub mod tree;
pub mod walk;
pub mod waste;
