//! Any bytes as the file of a class library and as its tables: refused in one line, or classes with all that they must have.

pub fn check(bytes: &[u8]) {
    yunti_engine::abi::fuzz(bytes);
}
