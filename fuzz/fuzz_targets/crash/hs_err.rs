//! Any bytes as an hs_err file.
#![no_main]

#[path = "../../checks/crash.rs"]
#[allow(dead_code, reason = "the other's check is there too")]
mod check;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| check::hs_err(bytes));
