//! Frames and messages: docs/formats/table-protocol.md.
//!
//! ```text
//!   input.rs    bytes that were received
//!   frame.rs    length, number, kind; cutting them from a stream
//!   parts.rs    numbers and strings of a payload
//!   opened.rs   what a server says of a table
//!   refusal.rs  errors
//! ```

pub mod frame;
pub mod input;
pub mod opened;
pub mod parts;
pub mod refusal;

pub const MAGIC: [u8; 4] = *b"YTSV";
pub const VERSION: u16 = 2;
/// Number of columns that stands for all.
pub const ALL_COLUMNS: u16 = u16::MAX;
/// Flag of a lookup: all rows of each key.
pub const ALL_ROWS: u8 = 1;

/// Kinds of frames.
pub mod kind {
    pub const ERROR: u8 = 0;
    pub const HELLO: u8 = 1;
    pub const OPEN: u8 = 2;
    pub const GET: u8 = 3;
    pub const METRICS: u8 = 4;
}
