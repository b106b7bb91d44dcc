//! Arbitrary bytes as a compressed file that is cut into parts.
#![no_main]

#[path = "../../checks/parts.rs"]
mod check;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| check::check(bytes));
