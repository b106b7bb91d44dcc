//! Where the time of each unit of work goes.
//!
//! ```text
//!   waiting.rs  kind of a wait, by its stack
//!   settle.rs   waits for work, and waits for what others hold
//!   queue.rs    resources that N units wait for and M have
//! ```

pub mod queue;
pub mod settle;
pub mod waiting;
