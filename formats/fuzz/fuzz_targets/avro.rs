//! Arbitrary bytes as an Avro file.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| drop(yunti_formats::checks::avro(bytes)));
