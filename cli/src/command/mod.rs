//! The commands, one module each: what a parsed command does.

pub mod generate;
pub mod inspect;
pub mod limits;
pub mod machine;
pub mod manual;
pub mod part;
pub mod report;
pub mod run;
pub mod validate;
