//! A part file that several workers fill at once, in the order of their tickets.
//!
//! ```text
//!   ticket 0        ticket 1         ticket 2
//!   [written ......][written ...... ][ waits for 1 to know its start
//! ```
//!
//! The bytes of a ticket are staged until the tickets before it have announced their lengths. Then it announces the
//! start of the next ticket, and writes without blocking others. The first unfinished ticket never waits, so there is
//! always progress.
//!
//! The kernel serialises writes to one file. A worker that finds another one writing defers its bytes to that worker,
//! and continues with an empty buffer. So no worker waits for the lock as long as few buffers are deferred.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use crate::env::NamedFile;
use crate::env::sync::{Condvar, Mutex, MutexGuard};
use crate::format::framed;
use yunti_base::Cancel;
use yunti_base::Result;

/// Part file, filled by several workers.
pub struct PartFile {
    file: NamedFile,
    /// True for a pipe: bytes must be written in order, not only placed.
    stream: bool,
    /// True if the file records where its records begin.
    marked: bool,
    chain: Mutex<TicketChain>,
    moved: Condvar,
    deferred: Mutex<DeferredWrites>,
    taken: Condvar,
    /// Written stretches, if a journal asks for them.
    written: Option<Mutex<WrittenStretches>>,
}

/// Stretches of a file that are written, whose tickets are written in any order.
#[derive(Default)]
struct WrittenStretches {
    /// All bytes before are written.
    prefix: u64,
    /// Written stretches behind it, end by start.
    behind: BTreeMap<u64, u64>,
    /// Ends of the finished tickets.
    ends: BTreeMap<usize, u64>,
}

impl WrittenStretches {
    fn add(&mut self, offset: u64, len: u64) {
        if len > 0 {
            self.behind.insert(offset, offset + len);
        }
        while let Some(end) = self.behind.remove(&self.prefix) {
            self.prefix = end;
        }
    }
}

/// Approximate distance of the marks at which a file may be cut, in bytes.
pub const MARK_BYTES: u64 = if cfg!(debug_assertions) { 4 << 10 } else { 1 << 20 };

/// Buffers that a file's writers may defer to one of them, at most.
pub const DEFERRED_MAX: usize = 2;

/// Writes deferred to the worker that is writing.
#[derive(Default)]
struct DeferredWrites {
    writing: bool,
    buffers: VecDeque<(u64, Vec<u8>)>,
    /// Written buffers, to be filled again.
    empty: Vec<Vec<u8>>,
}

struct TicketChain {
    /// First ticket whose length is unknown.
    next: usize,
    /// Offset at which that ticket starts.
    offset: u64,
    /// Bytes allocated ahead, to be cut at the end.
    allocated: u64,
}

impl PartFile {
    /// Wraps an open file. `stream`: a pipe. `expected`: bytes to allocate at once, if the file system can; 0: unknown.
    ///
    /// Errors: `Output` if the allocation fails.
    pub fn new(file: NamedFile, stream: bool, expected: u64) -> Result<PartFile> {
        if !stream && expected > 1 << 20 {
            file.allocate(expected)?;
        }
        let allocated = if stream { 0 } else { expected };
        let chain = Mutex::new(TicketChain { next: 0, offset: 0, allocated });
        let marked = file.file().keeps_marks();
        Ok(PartFile {
            file,
            stream,
            marked,
            chain,
            moved: Condvar::new(),
            deferred: Mutex::default(),
            taken: Condvar::new(),
            written: None,
        })
    }

    /// Wraps a file that an earlier attempt of the job wrote up to `bytes`; 0 for a new file. It keeps account of what
    /// is written, for `written_to`.
    ///
    /// Errors: `Output` if the file cannot be cut there, or the allocation of `expected` bytes fails.
    pub fn resumed(file: NamedFile, bytes: u64, expected: u64) -> Result<PartFile> {
        if bytes > 0 {
            file.truncate(bytes)?;
        }
        let mut part = PartFile::new(file, false, if bytes == 0 { expected } else { 0 })?;
        part.lock().offset = bytes;
        part.written = Some(Mutex::new(WrittenStretches { prefix: bytes, ..WrittenStretches::default() }));
        Ok(part)
    }

    /// Returns the bytes of the file with a ticket and all before it, if they are written. Only for a file made by
    /// `resumed`.
    pub fn written_to(&self, ticket: usize) -> Option<u64> {
        let written = self.written.as_ref()?.lock().unwrap_or_else(|e| e.into_inner());
        written.ends.get(&ticket).copied().filter(|&end| end <= written.prefix)
    }

    fn note_written(&self, offset: u64, len: u64) {
        if let Some(written) = &self.written {
            written.lock().unwrap_or_else(|e| e.into_inner()).add(offset, len);
        }
    }

    /// Returns the length of the file so far, with bytes that are still being written.
    pub fn len(&self) -> u64 {
        self.lock().offset
    }

    /// Returns true if nothing was written to the file yet.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Writes the data to stable storage. Errors: `Output`.
    pub fn sync(&self) -> Result<()> {
        self.file.sync()
    }

    /// Returns the path of the file, for messages.
    pub fn path(&self) -> &str {
        self.file.path()
    }

    /// Appends pieces together, at any place. Errors: `Output`.
    pub fn append(&self, pieces: &[&[u8]]) -> Result<()> {
        let mut chain = self.lock();
        let offset = chain.offset;
        chain.offset += bytes_of(pieces);
        self.mark(offset, pieces);
        if self.stream {
            // The lock is held during the write, because a pipe has one end.
            return self.write_all(pieces, offset);
        }
        drop(chain);
        self.write_all(pieces, offset)
    }

    /// Writes some bytes of a ticket that has more to come, after all tickets before it. Errors: `Output`, `Cancelled`.
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
        self.mark(offset, pieces);
        // Later tickets wait, so only this one writes now.
        self.write_all(pieces, offset)
    }

    /// Writes the last bytes of a ticket, if any, or defers them to another worker. Returns a buffer to be filled next.
    ///
    /// Errors: `Output`, `Cancelled`.
    pub fn finish(
        &self,
        ticket: usize,
        mut bytes: Vec<u8>,
        cancel: &Cancel,
        stop: &(dyn Fn() -> bool + Sync),
    ) -> Result<Vec<u8>> {
        let mut chain = self.wait(ticket, cancel, stop)?;
        let offset = chain.offset;
        if self.stream {
            self.file.write_all(&bytes, offset)?;
        }
        chain.offset += bytes.len() as u64;
        chain.next = ticket + 1;
        if let Some(written) = &self.written {
            written.lock().unwrap_or_else(|e| e.into_inner()).ends.insert(ticket, chain.offset);
        }
        drop(chain);
        self.mark(offset, &[&bytes]);
        self.moved.notify_all();
        if self.stream || bytes.is_empty() {
            bytes.clear();
            return Ok(bytes);
        }
        self.write_or_defer(offset, bytes)
    }

    fn write_or_defer(&self, offset: u64, bytes: Vec<u8>) -> Result<Vec<u8>> {
        let mut deferred = self.deferred();
        while deferred.writing && deferred.buffers.len() >= DEFERRED_MAX {
            deferred = self.taken.wait(deferred).unwrap_or_else(|e| e.into_inner());
        }
        if deferred.writing {
            deferred.buffers.push_back((offset, bytes));
            return Ok(deferred.empty.pop().unwrap_or_default());
        }
        deferred.writing = true;
        drop(deferred);
        let (mut offset, mut bytes) = (offset, bytes);
        loop {
            let written = self.file.write_all(&bytes, offset);
            if written.is_ok() {
                self.note_written(offset, bytes.len() as u64);
            }
            bytes.clear();
            let mut deferred = self.deferred();
            match deferred.buffers.pop_front() {
                Some(next) if written.is_ok() => {
                    let empty = std::mem::replace(&mut bytes, next.1);
                    deferred.empty.push(empty);
                    offset = next.0;
                    drop(deferred);
                    self.taken.notify_one();
                }
                _ => {
                    // After a failure the job ends, and the deferred buffers are dropped.
                    deferred.writing = false;
                    drop(deferred);
                    self.taken.notify_all();
                    return written.map(|()| bytes);
                }
            }
        }
    }

    fn deferred(&self) -> MutexGuard<'_, DeferredWrites> {
        self.deferred.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// Closes the file after all tickets: cuts the allocation and returns the length. A file without a byte gets
    /// `empty_file`.
    ///
    /// Errors: `Output`.
    pub fn close(&self, durable: bool, empty_file: &[u8]) -> Result<u64> {
        let mut chain = self.lock();
        if chain.offset == 0 && !empty_file.is_empty() {
            self.file.write_all(empty_file, 0)?;
            chain.offset = empty_file.len() as u64;
        }
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

    /// Marks the starts of framed records: the first of each stretch, and the first after each multiple of MARK_BYTES.
    /// The least mark after a multiple does not depend on how the writers divided the file.
    fn mark(&self, offset: u64, pieces: &[&[u8]]) {
        if !self.marked {
            return;
        }
        let file = self.file.file();
        file.mark(offset);
        // Several pieces are one record.
        let [bytes] = pieces else { return };
        let mut before = offset;
        for start in framed::starts(bytes) {
            let start = offset + start as u64;
            if start / MARK_BYTES != before / MARK_BYTES {
                file.mark(start);
            }
            before = start;
        }
    }

    fn write_all(&self, pieces: &[&[u8]], mut offset: u64) -> Result<()> {
        for piece in pieces {
            self.file.write_all(piece, offset)?;
            self.note_written(offset, piece.len() as u64);
            offset += piece.len() as u64;
        }
        Ok(())
    }

    fn wait(
        &self,
        ticket: usize,
        cancel: &Cancel,
        stop: &(dyn Fn() -> bool + Sync),
    ) -> Result<MutexGuard<'_, TicketChain>> {
        let mut chain = self.lock();
        while chain.next != ticket {
            debug_assert!(chain.next < ticket, "a ticket was used twice");
            // The wait is bounded, because a worker that failed or was cancelled sends no notification.
            let waited = self.moved.wait_timeout(chain, Duration::from_millis(20));
            chain = waited.unwrap_or_else(|e| e.into_inner()).0;
            cancel.check()?;
            if stop() {
                return Err(yunti_base::Error::new(yunti_base::Code::Cancelled, "another task failed"));
            }
        }
        Ok(chain)
    }

    fn lock(&self) -> MutexGuard<'_, TicketChain> {
        self.chain.lock().unwrap_or_else(|e| e.into_inner())
    }
}

fn bytes_of(pieces: &[&[u8]]) -> u64 {
    pieces.iter().map(|p| p.len() as u64).sum()
}
