//! Arbitrary bytes as pprof profiles.
#![no_main]

#[path = "../../checks/observe/profile.rs"]
#[allow(dead_code, reason = "the module also contains the check of the other target")]
mod check;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| check::pprof(bytes));
