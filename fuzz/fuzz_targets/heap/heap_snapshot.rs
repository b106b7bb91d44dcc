//! Arbitrary bytes as a heap snapshot of V8.
#![no_main]

#[path = "../../checks/observe/heap.rs"]
mod check;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| check::heap_snapshot(bytes));
