//! Simulated jobs: whole jobs on disks in memory, in virtual time, under a schedule from a seed, while processes crash,
//! disks fail and memory shrinks. docs/decisions/simulation.md says what is simulated and how.
//!
//! ```text
//!   make soak                                     jobs from a new seed, in the release profile, until one fails
//!   make soak JOBS=1000000 SECONDS=3600           at most this many, for at most this long
//!   make soak SEED=17 TRACE=all                   one job, with its trace
//!   make soak SEED=17 ONLY=bytes=100,troubles=0   the same, smaller: as the shrinking of a failure prints it
//! ```
//!
//! `make test` runs 10,000 jobs in the build with tiny limits.

#[path = "../random/answer.rs"]
mod answer;
mod case;
#[path = "../jobs/classes.rs"]
mod classes;
#[path = "../random/input.rs"]
mod input;
#[path = "../random/job.rs"]
mod job;
mod kills;
#[path = "../random/plain.rs"]
mod plain;
mod planted;
#[path = "../random/shapes.rs"]
mod shapes;
mod shrink;
mod soak;
#[path = "../random/stage.rs"]
mod stage;
mod watch;
mod workers;
