//! Hidden commands: what this program does as a child of another `yunti`.

pub mod reap;
mod restrictions;
pub mod sandboxed;
pub mod worker;
