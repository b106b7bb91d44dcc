//! Sizes of reads and of batches.

/// Bytes that are read at once.
pub const READ_BYTES: usize = 256 << 10;
/// Bytes of records of a batch, about.
pub const BATCH_BYTES: usize = 1 << 20;
/// Rows of a batch, at most.
pub const BATCH_ROWS_MAX: usize = 4096;
