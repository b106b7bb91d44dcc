//! Arbitrary bytes as a block of a spilled run.
#![no_main]

#[path = "../checks/run_block.rs"]
mod check;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| check::check(bytes));
