//! Bytes of a file, and the memory that is held for it: of the engine, or of a check of hostile files.

use yunti_api::{Result, SourceFile};

/// A file. A clone is the same file.
#[derive(Clone)]
pub enum Input {
    File(SourceFile),
    /// Bytes, and the memory that may be held for them.
    #[cfg(any(test, fuzzing))]
    Bytes(bytes::Bytes, u64),
}

/// Memory that a check may hold for a file.
#[cfg(any(test, fuzzing))]
const MEMORY: u64 = 64 << 20;
/// Rows that a check reads of a file: a number in its metadata may be any.
#[cfg(any(test, fuzzing))]
pub const ROWS_MAX: usize = 100_000;

impl Input {
    /// Returns bytes as a file of a check.
    #[cfg(any(test, fuzzing))]
    pub fn of_bytes(bytes: &[u8]) -> Input {
        Input::Bytes(bytes::Bytes::copy_from_slice(bytes), MEMORY)
    }

    /// Returns the length in bytes.
    pub fn len(&self) -> u64 {
        match self {
            Input::File(file) => file.len(),
            #[cfg(any(test, fuzzing))]
            Input::Bytes(bytes, _) => bytes.len() as u64,
        }
    }

    /// Fills `to` with the bytes at `offset`.
    pub fn read_at(&self, to: &mut [u8], offset: u64) -> Result<()> {
        match self {
            Input::File(file) => file.read_at(to, offset),
            #[cfg(any(test, fuzzing))]
            Input::Bytes(bytes, _) => match bytes.get(offset as usize..offset as usize + to.len()) {
                Some(from) => {
                    to.copy_from_slice(from);
                    Ok(())
                }
                None => yunti_api::fail("the file ends before"),
            },
        }
    }

    /// Sets the memory that is held for the file, before it is allocated.
    pub fn hold(&self, bytes: u64) -> Result<()> {
        match self {
            Input::File(file) => file.hold(bytes),
            #[cfg(any(test, fuzzing))]
            Input::Bytes(_, most) if bytes > *most => yunti_api::fail("the memory budget has too little"),
            #[cfg(any(test, fuzzing))]
            Input::Bytes(..) => Ok(()),
        }
    }
}
