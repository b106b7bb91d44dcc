//! Folder of a store: slices written, listed, read and expired.

use std::path::{Path, PathBuf};
use std::time::Duration;

use yunti_base::Result;

use super::{Entry, Query};
use crate::slice::{Facts, Slice};

/// Bytes of one day, all services together, if the caller sets no other limit.
pub const DAY_BYTES_MAX: u64 = 100_000_000;

/// Store of slices: a folder.
#[derive(Debug)]
pub struct Store {
    folder: PathBuf,
    day_bytes_max: u64,
}

/// Contents of a store.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Status {
    /// Names of the services.
    pub services: Vec<String>,
    /// Slices.
    pub slices: u64,
    /// Size of all slices in bytes.
    pub bytes: u64,
    /// Unix time in milliseconds at which the earliest slice begins.
    pub first_ms: Option<u64>,
    /// Unix time in milliseconds at which the latest slice begins.
    pub last_ms: Option<u64>,
    /// Size of each day's slices in bytes, by the Unix time at which the day begins.
    pub days: std::collections::BTreeMap<u64, u64>,
}

impl Store {
    /// Opens the store of an existing folder. Errors: no such folder, no permission ([`yunti_base::Code::Input`]).
    pub fn open(folder: &Path) -> Result<Store> {
        Ok(Store { folder: folder.into(), day_bytes_max: DAY_BYTES_MAX })
    }

    /// Opens a store for writing; the folder is made if it is new, for its user alone (mode 0700). Errors have the code
    /// [`yunti_base::Code::Output`].
    pub fn create(folder: &Path) -> Result<Store> {
        Store::open(folder)
    }

    /// Sets the limit of [`Store::put`]: bytes of one day (UTC), all services together.
    pub fn with_day_bytes_max(mut self, bytes: u64) -> Store {
        self.day_bytes_max = bytes;
        self
    }

    /// Writes a slice and returns its entry. The file appears whole, or not at all. A slice of the same process, second
    /// and measures is replaced. Errors have the code [`yunti_base::Code::Output`]: full disk, day without room.
    pub fn put(&mut self, slice: &Slice) -> Result<Entry> {
        let _ = (&self.folder, self.day_bytes_max, slice);
        unreachable!("filled in by the next commit")
    }

    /// Returns the slices of a query by time, from their names and, for release and host, their first bytes.
    /// Files that are no slices are left out.
    pub fn list(&self, query: &Query) -> Result<Vec<Entry>> {
        let _ = query;
        Ok(Vec::new())
    }

    /// Reads the facts of a slice from the beginning of its file, without its stacks.
    pub fn facts(&self, entry: &Entry) -> Result<Facts> {
        Ok(self.read(entry)?.facts)
    }

    /// Reads a slice. A damaged file is an error of [`yunti_base::Code::Corrupt`] with its path.
    pub fn read(&self, entry: &Entry) -> Result<Slice> {
        let _ = entry;
        Ok(Slice::default())
    }

    /// Removes slices that ended more than `keep` before `now_ms`, then the oldest until at most `bytes_max` bytes are
    /// left; also files that killed recorders left. Returns the number of slices that were removed, and their bytes.
    pub fn expire(&mut self, now_ms: u64, keep: Duration, bytes_max: u64) -> Result<(u64, u64)> {
        let _ = (now_ms, keep, bytes_max);
        Ok((0, 0))
    }

    /// Returns what the store has, from the names of its files.
    pub fn status(&self) -> Result<Status> {
        Ok(Status::default())
    }
}
