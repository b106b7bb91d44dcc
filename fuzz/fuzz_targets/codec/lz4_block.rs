//! Arbitrary bytes as an lz4 block.
#![no_main]

#[path = "../../checks/lz4_block.rs"]
mod check;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| check::check(bytes));
