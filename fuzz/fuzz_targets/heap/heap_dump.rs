//! Arbitrary bytes as a heap dump.
#![no_main]

#[path = "../../checks/observe/heap.rs"]
mod check;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| check::heap_dump(bytes));
