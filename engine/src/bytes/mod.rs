//! Floor 0: bytes and encodings that all floors above use; no I/O, no threads.

pub mod checksum;
pub mod escape;
pub mod java_number;
pub mod key_order;
pub mod masks;
pub mod ordered_bytes;
pub mod ordered_record;
pub mod prefetch;
pub mod record;
mod scatter;
pub mod simd;
pub mod varint;
pub mod words;

pub use checksum::{Crc32c, crc32c};
pub use key_order::{KeyKind, KeyOrder};
pub use ordered_record::OrderedRecord;
pub use record::{Record, RecordBytes};
