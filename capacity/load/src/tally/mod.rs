//! Figures of a run while it goes on: of one thread, and of each second.

pub mod batch;
pub mod failure;
pub mod record;
pub mod times;
