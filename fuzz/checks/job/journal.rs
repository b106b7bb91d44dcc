//! Arbitrary bytes as the journal of a job, unchanged and with a corrected length and checksum: no panic, and frames
//! that decode also encode.

/// Checks one input.
pub fn check(bytes: &[u8]) {
    yunti_engine::job::journal::frame::fuzz(bytes);
}
