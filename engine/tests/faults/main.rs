//! Every operation on files of small jobs in every mode fails in turn: the Nth for every N, with every fault that
//! applies.
//!
//! `make test` takes some of the Ns if there are many; `YUNTI_SWEEP=full` takes all.

mod cases;
#[path = "../jobs/classes.rs"]
mod classes;
mod directories;
mod resume;
mod streams;
#[path = "../jobs/support.rs"]
#[allow(dead_code)]
mod support;
mod sweep;
