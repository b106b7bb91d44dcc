//! Arbitrary bytes as a shared table.
#![no_main]

#[path = "../checks/table.rs"]
mod check;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| check::shared_table(bytes));
