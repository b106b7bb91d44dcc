//! Arbitrary bytes as a garbage collection log.
#![no_main]

#[path = "../checks/observe/gc.rs"]
mod check;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| check::gc_log(bytes));
