//! Arbitrary bytes as a block of a spilled run, unchanged and with a corrected checksum: no panic, no access past its
//! end.

/// Checks one input.
pub fn check(bytes: &[u8]) {
    yunti_engine::run::block::fuzz(bytes);
}
