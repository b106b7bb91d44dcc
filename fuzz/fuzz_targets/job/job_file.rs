//! Arbitrary bytes as a job file.
#![no_main]

#[path = "../../checks/job/file.rs"]
mod check;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| check::check(bytes));
