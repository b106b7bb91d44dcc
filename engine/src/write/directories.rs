//! Output in directories: the key of a record names the directory of its file below the output, and the file has the
//! values alone.
//!
//! ```text
//!   day=2026-11-01  ann,7      OUT/day=2026-11-01/part-r-00000    ann,7
//!   day=2026-11-02  bob,9      OUT/day=2026-11-02/part-r-00000    bob,9
//! ```
//!
//! Keys come in order and a partition has all records of a key. So a writer has one file open at a time, and each
//! directory has one file, for any number of writers.

use super::part_file::PartFile;
use yunti_base::Result;

/// Setting of a job whose keys are directories: the columns of the key, a line each.
pub const KEY_DIRECTORIES: &str = "output.directories";

/// Files of the directories. Call order: `create` once for each key, and `close` when the file has all its bytes.
pub trait DirectoryFiles: Send + Sync {
    /// Creates the file in the directory that `key` names.
    ///
    /// Errors: `UserCode` for a key that is no path below the output; `Output`.
    fn create(&self, key: &[u8]) -> Result<PartFile>;

    /// Closes a file. Errors: `Output`.
    fn close(&self, file: &PartFile) -> Result<()>;

    /// Returns the bytes of all closed files.
    fn bytes(&self) -> u64;
}

/// File that a writer has open, and the key of its records.
pub struct OpenDirectory {
    pub key: Vec<u8>,
    pub file: PartFile,
}
