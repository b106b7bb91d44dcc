//! A part file that several workers fill at once, in the order of their tickets.
//!
//! ```text
//!   ticket 0        ticket 1         ticket 2
//!   [written ......][written ...... ][ waits for 1 to know where it starts
//! ```
//!
//! A ticket's bytes are staged until the tickets before it have said how long they are; then it says where the next one starts
//! and writes without holding anybody up. The first unfinished ticket never waits, so there is always progress.

use std::sync::{Condvar, Mutex, MutexGuard};
use std::time::Duration;

use crate::base::Result;
use crate::env::{Cancel, NamedFile};

pub struct PartFile {
    file: NamedFile,
    /// A pipe: bytes must be written one after the other, not only placed.
    stream: bool,
    chain: Mutex<Chain>,
    moved: Condvar,
}

struct Chain {
    /// The first ticket whose length is not known.
    next: usize,
    /// Where it starts.
    offset: u64,
    /// Length that was allocated ahead, to be cut at the end.
    allocated: u64,
}

impl PartFile {
    /// `expected` bytes are asked of the disk at once, where that can be (0: unknown).
    pub fn new(file: NamedFile, stream: bool, expected: u64) -> Result<PartFile> {
        if !stream && expected > 1 << 20 {
            file.allocate(expected)?;
        }
        let allocated = if stream { 0 } else { expected };
        Ok(PartFile { file, stream, chain: Mutex::new(Chain { next: 0, offset: 0, allocated }), moved: Condvar::new() })
    }

    /// Appends pieces, together, whose place among others does not matter.
    pub fn append(&self, pieces: &[&[u8]]) -> Result<()> {
        let mut chain = self.lock();
        let offset = chain.offset;
        chain.offset += bytes_of(pieces);
        if self.stream {
            // Held while it is written: a pipe has one end.
            return self.write_all(pieces, offset);
        }
        drop(chain);
        self.write_all(pieces, offset)
    }

    /// Writes some of a ticket's bytes, of which more will follow: waits until all tickets before it are done.
    pub fn write(
        &self,
        ticket: usize,
        pieces: &[&[u8]],
        cancel: &Cancel,
        stop: &(dyn Fn() -> bool + Sync),
    ) -> Result<()> {
        let mut chain = self.wait(ticket, cancel, stop)?;
        let offset = chain.offset;
        chain.offset += bytes_of(pieces);
        drop(chain);
        // Only this ticket writes now: nobody can come past it.
        self.write_all(pieces, offset)
    }

    /// Writes the last bytes of a ticket (or none).
    pub fn finish(&self, ticket: usize, bytes: &[u8], cancel: &Cancel, stop: &(dyn Fn() -> bool + Sync)) -> Result<()> {
        let mut chain = self.wait(ticket, cancel, stop)?;
        let offset = chain.offset;
        if self.stream {
            self.file.write_all(bytes, offset)?;
        }
        chain.offset += bytes.len() as u64;
        chain.next = ticket + 1;
        drop(chain);
        self.moved.notify_all();
        if self.stream { Ok(()) } else { self.file.write_all(bytes, offset) }
    }

    /// All tickets are done: cuts what was allocated too much; returns the length.
    pub fn close(&self, durable: bool) -> Result<u64> {
        let chain = self.lock();
        if !self.stream {
            if chain.allocated > chain.offset {
                self.file.truncate(chain.offset)?;
            }
            if durable {
                self.file.sync()?;
            }
        }
        Ok(chain.offset)
    }

    fn write_all(&self, pieces: &[&[u8]], mut offset: u64) -> Result<()> {
        for piece in pieces {
            self.file.write_all(piece, offset)?;
            offset += piece.len() as u64;
        }
        Ok(())
    }

    fn wait(&self, ticket: usize, cancel: &Cancel, stop: &(dyn Fn() -> bool + Sync)) -> Result<MutexGuard<'_, Chain>> {
        let mut chain = self.lock();
        while chain.next != ticket {
            debug_assert!(chain.next < ticket, "a ticket was used twice");
            // The wait has an end: a worker that failed or was cancelled moves nothing.
            let waited = self.moved.wait_timeout(chain, Duration::from_millis(20));
            chain = waited.unwrap_or_else(|e| e.into_inner()).0;
            cancel.check()?;
            if stop() {
                return Err(crate::base::Error::new(crate::base::Code::Cancelled, "another task failed"));
            }
        }
        Ok(chain)
    }

    fn lock(&self) -> MutexGuard<'_, Chain> {
        self.chain.lock().unwrap_or_else(|e| e.into_inner())
    }
}

fn bytes_of(pieces: &[&[u8]]) -> u64 {
    pieces.iter().map(|p| p.len() as u64).sum()
}
