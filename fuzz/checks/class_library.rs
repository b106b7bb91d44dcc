//! Arbitrary bytes as the file of a class library and as its tables: a refusal in one line, or complete classes.

/// Checks one input.
pub fn check(bytes: &[u8]) {
    yunti_engine::abi::fuzz(bytes);
}
