//! Parts that formats of files share below their columns: compressed blocks, stretches as units, descriptions.

pub mod codec;
pub mod describe;
pub mod stretch;
