//! Memory and scratch space that a job gives its operators, for records that they must hold until others come.

use std::sync::Arc;

use crate::memory::Budget;
use yunti_base::{Code, Error, Result};

/// Bytes on scratch, with their checksum.
#[derive(Clone, Copy, Debug)]
pub struct SpilledBytes {
    pub offset: u64,
    pub len: u32,
    /// Number of the scratch directory.
    pub file: u16,
    /// CRC32C.
    pub checksum: u32,
}

/// Scratch space for operators. Call order: `write`, `read` any number of times, `free` at most once.
pub trait SpillSpace: Send + Sync {
    /// Writes bytes, fewer than 4 GiB. Errors: `Output` for scratch directories without room.
    fn write(&self, bytes: &[u8]) -> Result<SpilledBytes>;
    /// Reads spilled bytes into a buffer of their length. Errors: `Output`; `Corrupt` for bytes that have changed.
    fn read(&self, spilled: &SpilledBytes, to: &mut [u8]) -> Result<()>;
    /// Frees spilled bytes.
    fn free(&self, spilled: &SpilledBytes);
}

/// No scratch space.
impl SpillSpace for () {
    fn write(&self, _: &[u8]) -> Result<SpilledBytes> {
        Err(Error::new(Code::Internal, "this task has no scratch space"))
    }
    fn read(&self, _: &SpilledBytes, _: &mut [u8]) -> Result<()> {
        Err(Error::new(Code::Internal, "this task has no scratch space"))
    }
    fn free(&self, _: &SpilledBytes) {}
}

/// Memory and scratch space of a job's operators.
#[derive(Clone)]
pub struct Workspace {
    /// Budget of the job, for grants beyond the reserved bytes.
    pub budget: Arc<Budget>,
    /// Bytes that the job has reserved for the operator of each worker.
    pub reserved_bytes: u64,
    pub scratch: Arc<dyn SpillSpace>,
}

/// Bytes of an operator outside of a job.
const BYTES_DEFAULT: u64 = 64 << 20;

impl Default for Workspace {
    fn default() -> Self {
        Workspace { budget: Budget::new(u64::MAX), reserved_bytes: BYTES_DEFAULT, scratch: Arc::new(()) }
    }
}
