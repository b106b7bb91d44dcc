//! Arbitrary bytes as the journal of a job.
#![no_main]

#[path = "../../checks/job/journal.rs"]
mod check;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| check::check(bytes));
