//! `yunti nn load --replay`: its flags, its run and its report.

pub mod flags;
mod report;
pub mod run;
