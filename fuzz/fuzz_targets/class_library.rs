//! Arbitrary bytes as a class library.
#![no_main]

#[path = "../checks/class_library.rs"]
mod check;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| check::check(bytes));
