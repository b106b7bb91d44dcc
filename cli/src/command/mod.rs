//! The commands, one module each: flags and execution.

pub mod child;
pub mod columns;
pub mod generate;
pub mod inspect;
pub mod limits;
pub mod machine;
pub mod manual;
pub mod numbers;
pub mod part;
pub mod report;
pub mod run;
pub mod streaming;
pub mod validate;
