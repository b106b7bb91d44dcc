//! Changes of settings that can be undone: what is to be written is in the journal, on the disk, before it is written.
//!
//! ```text
//!   journal.rs  lines of what was intended, done and undone     files.rs   settings as files below a root
//!   apply.rs    one change, all of its files or none            undo.rs    the way back
//! ```

pub mod apply;
pub mod files;
pub mod journal;
pub mod undo;

#[cfg(test)]
mod tests;
