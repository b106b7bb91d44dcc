//! Bytes of a dump: the file, its top-level records, and the records of its heap segments.
//!
//! ```text
//!   header | record | record | HEAP_DUMP_SEGMENT [ root | class | instance | array .. ] | .. | HEAP_DUMP_END
//!            map: top-level records               records: of one segment, in blocks
//! ```

pub mod map;
pub mod records;
pub mod source;
