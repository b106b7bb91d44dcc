//! Arbitrary bytes as an ORC file.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| drop(yunti_formats::checks::orc(bytes)));
