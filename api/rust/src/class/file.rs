//! Files of a source, and what a job wants of them.
//! One of the listed files with `unsafe`: it calls the engine's functions.

use std::sync::Arc;

use crate::context::Task;
use crate::error::{Error, Result};
use crate::layout::{OK, RawFile, RawScan, RawStr, SCAN_BLOCKS, SCAN_MARKS_NULLS, SCAN_NO_VALUE, file, read, slice};

/// A file of the job's input, read at any position through the engine. A clone is the same file.
///
/// Keep it in the object that got it, and use it in the calls of this object.
#[derive(Clone)]
pub struct SourceFile {
    raw: RawFile,
    task: Arc<Task>,
}

// SAFETY: the engine's functions are called by the thread of the running call alone (`Task::check`).
unsafe impl Send for SourceFile {}
// SAFETY: as above.
unsafe impl Sync for SourceFile {}

impl SourceFile {
    /// # Safety
    /// The engine passed `raw` to a call of the object of `task`, and leaves it valid until the object is destroyed.
    pub(crate) unsafe fn new(raw: *const RawFile, task: &Arc<Task>) -> SourceFile {
        // SAFETY: as the caller promises.
        SourceFile { raw: unsafe { file(raw) }, task: task.clone() }
    }

    /// Returns the length in bytes.
    pub fn len(&self) -> u64 {
        self.raw.bytes
    }

    /// Returns true for a file without a byte.
    pub fn is_empty(&self) -> bool {
        self.raw.bytes == 0
    }

    /// Returns the index of the file in the job's input, from 0.
    pub fn index(&self) -> u32 {
        self.raw.file_index
    }

    /// Returns the name of the file.
    pub fn name(&self) -> &[u8] {
        // SAFETY: the ABI: the name lives as long as the object, which this value does not outlive.
        unsafe { slice(self.raw.name.p, self.raw.name.n as usize) }
    }

    /// Fills `to` with the bytes at `offset`. Fails beyond the end of the file, and if the file cannot be read: return
    /// the error, and the engine reports its own reason.
    pub fn read_at(&self, to: &mut [u8], offset: u64) -> Result<()> {
        self.task.check();
        // SAFETY: the ABI; this thread runs a call (`check`), and `to` is writable.
        let status = unsafe { (self.raw.read_at)(self.raw.engine, offset, to.as_mut_ptr(), to.len() as u64) };
        if status == OK { Ok(()) } else { Err(Error::new("the file cannot be read")) }
    }

    /// Sets the memory that the object holds for this file, before it allocates. Fails if the job's budget has too
    /// little: return the error.
    pub fn hold(&self, bytes: u64) -> Result<()> {
        self.task.check();
        // SAFETY: as in `read_at`.
        let status = unsafe { (self.raw.hold)(self.raw.engine, bytes) };
        if status == OK { Ok(()) } else { Err(Error::new("the memory budget has too little for the file")) }
    }
}

/// Columns and condition of a job's records.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scan {
    /// Columns of the key; none, and none for the value: the first column.
    pub key: Vec<String>,
    /// Columns of the value; none: all columns that are not in the key.
    pub value: Vec<String>,
    /// True if the job does not use the value: leave it empty.
    pub no_value: bool,
    /// True if a null is `\N`, and all columns are escaped, even a single one.
    pub marks_nulls: bool,
    /// True for blocks of the value's columns instead of records; see docs/formats/column-block.md. The value may have
    /// no column: then a block has rows alone.
    pub blocks: bool,
    /// Condition that records must meet; empty: all records.
    pub condition: String,
    /// For `plan`: units that begin before are not needed.
    pub from: u64,
    /// For `plan`: units that begin here or behind are not needed; 0: all are.
    pub to: u64,
}

impl Scan {
    /// # Safety
    /// The engine passed `raw`, and what it leads to lives for the call.
    pub(crate) unsafe fn of(raw: *const RawScan) -> Scan {
        // SAFETY: as the caller promises.
        let (raw, text) = unsafe {
            let raw = read(raw);
            let text = |s: &RawStr| String::from_utf8_lossy(slice(s.p, s.n as usize)).into_owned();
            (raw, text)
        };
        // SAFETY: as above.
        let names = |p: *const RawStr, n: u32| unsafe { slice(p, n as usize) }.iter().map(text).collect();
        Scan {
            key: names(raw.key, raw.n_key),
            value: names(raw.value, raw.n_value),
            no_value: raw.flags & SCAN_NO_VALUE != 0,
            marks_nulls: raw.flags & SCAN_MARKS_NULLS != 0,
            blocks: raw.flags & SCAN_BLOCKS != 0,
            condition: text(&raw.condition),
            from: raw.from,
            to: raw.to,
        }
    }

    /// Returns true if a unit that begins at `position` is needed.
    pub fn covers(&self, position: u64) -> bool {
        self.from <= position && position < self.end()
    }

    /// Returns `to`, or the largest offset if it is 0.
    pub fn end(&self) -> u64 {
        if self.to == 0 { u64::MAX } else { self.to }
    }
}
