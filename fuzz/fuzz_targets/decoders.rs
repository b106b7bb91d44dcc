//! Any bytes into every decoder.
#![no_main]

#[path = "../checks/decoders.rs"]
mod check;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| check::check(bytes));
