//! Outputs of jobs that run at once, or that are killed and go on.

mod claims;
mod resume;
#[path = "../support/mod.rs"]
mod support;
