//! Arbitrary bytes into the decoder of xz.
#![no_main]

#[path = "../../checks/decoders.rs"]
mod check;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| check::check(yunti_engine::codec::CodecKind::Xz, bytes));
