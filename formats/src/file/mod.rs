//! Parts that formats of files share below their columns: bytes and numbers of a file, compressed blocks, stretches as
//! units, descriptions; and the replay of hostile files.

pub mod codec;
pub mod describe;
pub mod input;
#[cfg(test)]
pub mod replay;
pub mod stretch;
pub mod varint;
