//! Encoders of columns, and the messages of the metadata.
//!
//! ```text
//!   values of a batch  ->  plain bytes of streams  ->  blocks of 256 KiB, compressed    ->  a stripe
//! ```

mod column;
mod file;
mod ints;
mod message;
mod runs;
mod statistics;
mod stream;

pub use file::FileWriter;
pub use message::Message;
pub use stream::{BLOCK_BYTES, OutStream, Packer};
