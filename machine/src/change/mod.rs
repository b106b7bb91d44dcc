//! Changes of settings that can be undone. The journal records a change on the disk before it is written.
//!
//! ```text
//!   journal.rs  lines: intended, done, undone               files.rs   settings as files below a root
//!   apply.rs    one change, all of its files or none        undo.rs    restoration of old values
//! ```

pub mod apply;
pub mod files;
pub mod journal;
pub mod undo;

#[cfg(test)]
mod tests;
