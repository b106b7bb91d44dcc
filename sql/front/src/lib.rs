//! SQL text to plans: DataFusion's parser, planner and optimizer, and tables of files.
//!
//! ```text
//!   native/      DataFusion's optimized logical plan --> plan of Yunti's executor, or the reason why there is none
//! ```

pub mod native;
pub mod tables;
