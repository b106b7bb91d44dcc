//! Arbitrary bytes as CSV.
#![no_main]

#[path = "../checks/csv.rs"]
mod check;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| check::check(bytes));
