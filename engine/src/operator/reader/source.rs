//! Sources: they read files whose records are not found from front to back, such as Parquet (yt_source of the C ABI).
//!
//! ```text
//!   plan      file   ->  units: row groups, stripes, blocks         once a file, before the first split
//!   open      file, unit, scan                                      the columns that the job uses, and its condition
//!   next ..   batches of records, keys and values as bytes          until there are no more
//! ```

use std::path::Path;
use std::sync::Arc;

use super::super::Out;
use crate::env::sync::Mutex;
use crate::env::{Files, NamedFile};
use crate::memory::Budget;
use crate::memory::budget::Grant;
use yunti_base::{Code, Error, Result};

/// Columns and condition of a job's records.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scan {
    /// Columns of the key; none, and none for the value: the first column.
    pub key: Vec<String>,
    /// Columns of the value; none: all columns that are not in the key.
    pub value: Vec<String>,
    /// True if the job does not use the value: it stays empty, and its columns are not read.
    pub no_value: bool,
    /// True if a null is written as `\N`, and all columns are escaped, even a single one.
    pub marks_nulls: bool,
    /// True for blocks of columns instead of records: those of the value, and no others.
    pub blocks: bool,
    /// Condition on columns that records must meet; empty: all records.
    pub condition: String,
    /// For a plan: units that begin in [from, to) are needed. `to` is 0: up to the end of the file.
    pub from: u64,
    pub to: u64,
}

/// Part of a file that one task reads: a row group, a stripe, a block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Unit {
    /// Number, or another value that the source opens the unit by.
    pub number: u64,
    /// Offset of its first byte in the file.
    pub position: u64,
    /// Stored bytes of the columns that the job uses.
    pub bytes: u64,
    /// Records, before the condition is applied.
    pub records: u64,
}

/// A file that a source reads at any position, within the memory budget of the job.
pub struct SourceFile {
    file: NamedFile,
    len: u64,
    index: u32,
    budget: Arc<Budget>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Memory that the source holds for the file.
    held: Option<Grant>,
    read_bytes: u64,
    /// First failure: the source may pass on its own words for it.
    failure: Option<Error>,
}

impl SourceFile {
    /// Opens a file. `index`: its number in the job's input. Errors: `Input`.
    pub fn open(files: &dyn Files, path: &Path, index: u32, budget: &Arc<Budget>) -> Result<SourceFile> {
        let file = NamedFile::open(files, path, Code::Input)?;
        let len = file.len()?;
        Ok(SourceFile { file, len, index, budget: budget.clone(), state: Mutex::default() })
    }

    /// Returns the name of the file.
    pub fn path(&self) -> &str {
        self.file.path()
    }

    /// Returns the length in bytes.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Returns true for a file without a byte.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the number of the file in the job's input.
    pub fn index(&self) -> u32 {
        self.index
    }

    /// Fills `to` with the bytes at `offset`. Errors: `Input` for a failed read, `Corrupt` beyond the end of the file.
    pub fn read_at(&self, to: &mut [u8], offset: u64) -> Result<()> {
        let done = self.file.read_exact(to, offset);
        let mut state = self.state.lock().unwrap_or_else(|e| e.into_inner());
        state.read_bytes += to.len() as u64;
        done.inspect_err(|e| {
            state.failure.get_or_insert_with(|| e.clone());
        })
    }

    /// Sets the memory that the source holds for the file, before it allocates. Errors: `Memory`.
    pub fn hold(&self, bytes: u64) -> Result<()> {
        const PURPOSE: &str = "columns of a file";
        let mut state = self.state.lock().unwrap_or_else(|e| e.into_inner());
        let done = match &mut state.held {
            Some(grant) if bytes <= grant.bytes() => {
                grant.try_resize(bytes);
                Ok(())
            }
            Some(grant) => grant.grow(bytes, PURPOSE),
            None => self.budget.grant(bytes, PURPOSE).map(|grant| state.held = Some(grant)),
        };
        done.map_err(|e| e.at_path(self.path())).inspect_err(|e| {
            state.failure.get_or_insert_with(|| e.clone());
        })
    }

    /// Returns the bytes read since the last call.
    pub fn take_read_bytes(&self) -> u64 {
        std::mem::take(&mut self.state.lock().unwrap_or_else(|e| e.into_inner()).read_bytes)
    }

    /// Returns the first failure of a call.
    pub fn take_failure(&self) -> Option<Error> {
        self.state.lock().unwrap_or_else(|e| e.into_inner()).failure.take()
    }
}

/// A source of one task, or of a plan.
///
/// Call order: `plan` and `describe` at any time; for each unit `open`, then `next` until it returns false.
pub trait Source: Send {
    /// Returns the units of a file that may have records of the scan, in the order of the file.
    fn plan(&mut self, file: &Arc<SourceFile>, scan: &Scan) -> Result<Vec<Unit>>;
    /// Begins a unit.
    fn open(&mut self, file: &Arc<SourceFile>, scan: &Scan, unit: u64) -> Result<()>;
    /// Emits some records of the unit, by copy. Returns false at its end.
    fn next(&mut self, out: &mut Out) -> Result<bool>;
    /// Writes a description of the file to `out`, in form BYTES: a JSON document.
    fn describe(&mut self, file: &Arc<SourceFile>, out: &mut Out) -> Result<()>;
}
