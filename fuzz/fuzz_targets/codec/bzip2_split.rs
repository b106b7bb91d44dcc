//! Arbitrary bytes as a bzip2 file that is read in splits.
#![no_main]

#[path = "../../checks/bzip2_split.rs"]
mod check;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| check::check(bytes));
