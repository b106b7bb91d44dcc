//! Arbitrary bytes as framed records.
#![no_main]

#[path = "../checks/framed.rs"]
mod check;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| check::check(bytes));
