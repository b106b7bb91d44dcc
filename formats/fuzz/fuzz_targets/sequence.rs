//! Arbitrary bytes as a SequenceFile.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| drop(yunti_formats::checks::sequence(bytes)));
