//! Arbitrary bytes as the kernel's log.
#![no_main]

#[path = "../../checks/observe/crash.rs"]
#[allow(dead_code, reason = "the module also contains the check of the other target")]
mod check;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| check::kernel_log(bytes));
