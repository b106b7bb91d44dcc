//! Floor 0: bytes and encodings that every floor above uses; no I/O, no threads.

pub mod arranged;
pub mod checksum;
pub mod escape;
pub mod key_order;
pub mod masks;
pub mod ordered_bytes;
pub mod prefetch;
pub mod record;
mod scatter;
pub mod simd;
pub mod varint;

pub use arranged::Arranged;
pub use checksum::{Crc32c, crc32c};
pub use key_order::{KeyKind, KeyOrder};
pub use record::Record;
