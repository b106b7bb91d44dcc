//! Arbitrary bytes as typed bytes of a program.
#![no_main]

#[path = "../checks/typed_bytes.rs"]
mod check;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| check::check(bytes));
