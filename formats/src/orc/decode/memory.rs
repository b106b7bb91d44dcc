//! Memory of an open stripe: streams and dictionaries while it is open, arrays while a batch is.

use yunti_api::Result;

use crate::file::input::Input;

/// Memory that the file of a stripe holds.
pub struct Memory {
    file: Input,
    /// Bytes that are in use until the stripe is closed.
    fixed: u64,
    /// Bytes of the batch.
    batch: u64,
    held: u64,
}

impl Memory {
    /// Returns the memory of a file that holds `fixed` bytes.
    pub fn new(file: &Input, fixed: u64) -> Memory {
        Memory { file: file.clone(), fixed, batch: 0, held: 0 }
    }

    /// Takes memory for the batch. Call it before the memory is allocated.
    pub fn take(&mut self, bytes: u64) -> Result<()> {
        self.batch = self.batch.saturating_add(bytes);
        let all = self.fixed.saturating_add(self.batch);
        if all > self.held {
            self.file.hold(all)?;
            self.held = all;
        }
        Ok(())
    }

    /// Makes the memory of the batch so far part of the stripe's.
    pub fn keep(&mut self) {
        self.fixed += std::mem::take(&mut self.batch);
    }

    /// Begins a batch: the arrays of the last one are gone.
    pub fn begin(&mut self) {
        self.batch = 0;
    }

    /// Returns the bytes of the batch.
    pub fn used(&self) -> u64 {
        self.batch
    }
}
