//! Arbitrary bytes as JSON lines.
#![no_main]

#[path = "../checks/json.rs"]
mod check;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| check::check(bytes));
