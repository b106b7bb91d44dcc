//! Every operation on files of small jobs in every mode is made to fail, the Nth for every N, in every way that it can.
//!
//! `make test` takes some of the Ns where there are many; `YUNTI_SWEEP=full` takes all.

mod cases;
#[path = "../jobs/classes.rs"]
mod classes;
mod directories;
mod streams;
#[path = "../jobs/support.rs"]
#[allow(dead_code)]
mod support;
mod sweep;
