//! Arbitrary bytes as a page of Snappy, which the crate `snap` must take or refuse alike.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| yunti_formats::checks::parquet_snappy(bytes));
