//! The process that is looked at: one that is there, by number or by name, or one that we start.

mod choose;
mod process;
mod started;

pub use choose::{choose, label};
pub use process::Process;
pub use started::Target;
