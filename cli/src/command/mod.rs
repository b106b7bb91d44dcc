//! The commands, one module each: flags and execution.

pub mod generate;
pub mod inspect;
pub mod limits;
pub mod machine;
pub mod manual;
pub mod part;
pub mod reap;
pub mod report;
pub mod run;
pub mod sandboxed;
pub mod streaming;
pub mod validate;
pub mod worker;
