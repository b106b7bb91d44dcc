//! Arbitrary bytes into the decoder of bzip2.
#![no_main]

#[path = "../../checks/decoders.rs"]
mod check;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| check::check(yunti_engine::codec::CodecKind::Bzip2, bytes));
