//! Folder of a store: slices written, read and expired.
//!
//! ```text
//!   STORE/<service>/<date>/<time>-<seconds>s-<measures>-<process>.slice
//!   STORE/<service>/<date>/.<name>.<token>.tmp                             while it is written
//! ```
//!
//! A slice is written under a temporary name, synced and renamed, so that a killed recorder leaves whole slices and at
//! most one temporary file, which readers ignore. There is no index that could be damaged: names are the index.

use std::collections::BTreeMap;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use yunti_base::process::unique_token;
use yunti_base::{Code, Error, Result};

use super::entry::{Entry, Query};
use super::walk;
use crate::format::pprof;
use crate::slice::{Facts, Slice};
use crate::time::{DAY_MS, TIME_MS_MAX, date_of};

/// Bytes of one day, all services together, if the caller sets no other limit.
pub const DAY_BYTES_MAX: u64 = 100_000_000;

/// Puts after which the day's bytes are counted again, because other recorders write to the store too.
const RECOUNT_PUTS: u32 = 50;

/// Age of a temporary file whose writer must have ended.
const LEFTOVER_AGE: Duration = Duration::from_secs(3600);

/// Store of slices: a folder.
#[derive(Debug)]
pub struct Store {
    folder: PathBuf,
    day_bytes_max: u64,
    /// Day that was counted last.
    counted: Option<Counted>,
}

/// Bytes of a day, as of some puts ago.
#[derive(Clone, Copy, Debug)]
struct Counted {
    day_ms: u64,
    bytes: u64,
    puts: u32,
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
    /// Size of each day's slices in bytes, by the Unix time in milliseconds at which the day begins.
    pub days: BTreeMap<u64, u64>,
}

impl Store {
    /// Opens the store of an existing folder. Errors: no such folder, no permission ([`Code::Input`]).
    pub fn open(folder: &Path) -> Result<Store> {
        fs::read_dir(folder).map_err(|e| {
            let hint = "name the folder that `yunti observe record start` was given";
            Error::io(Code::Input, "cannot open the store", &e).at_path(folder.to_string_lossy()).hint(hint)
        })?;
        Ok(Store { folder: folder.into(), day_bytes_max: DAY_BYTES_MAX, counted: None })
    }

    /// Opens a store for writing; the folder is made if it is new, for its user alone (mode 0700): profiles name what a
    /// service does. Errors have the code [`Code::Output`].
    pub fn create(folder: &Path) -> Result<Store> {
        make_folder(folder)?;
        Store::open(folder)
    }

    /// Sets the limit of [`Store::put`]: bytes of one day (UTC), all services together.
    pub fn with_day_bytes_max(mut self, bytes: u64) -> Store {
        self.day_bytes_max = bytes;
        self
    }

    /// Writes a slice and returns its entry. The file appears whole, or not at all. A slice of the same process, second
    /// and measures is replaced. Errors have the code [`Code::Output`]: full disk, day without room. The store stays
    /// usable after each of them.
    pub fn put(&mut self, slice: &Slice) -> Result<Entry> {
        let mut entry = Entry::of(&slice.facts, slice.stacks.measures());
        let bytes = pprof::write(slice);
        entry.bytes = bytes.len() as u64;
        let mut counted = self.count(entry.begin_ms)?;
        if counted.bytes + entry.bytes > self.day_bytes_max {
            let what = format!(
                "the store has no room for a slice of {} bytes: {} has {} of {} bytes",
                entry.bytes,
                date_of(entry.begin_ms),
                counted.bytes,
                self.day_bytes_max
            );
            return Err(Error::new(Code::Output, what)
                .at_path(self.folder.to_string_lossy())
                .hint("record fewer services, or raise the limit"));
        }
        let path = self.path(&entry);
        let parent = path.parent().expect("a slice lies in the folder of its day");
        make_folder(parent)?;
        write_whole(&path, &bytes)
            .map_err(|e| Error::io(Code::Output, "cannot write a slice", &e).at_path(path.to_string_lossy()))?;
        counted.bytes += entry.bytes;
        counted.puts += 1;
        self.counted = Some(counted);
        Ok(entry)
    }

    /// Returns the slices of a query by time, from their names and, for release and host, their first bytes.
    /// Files that are no slices are left out.
    pub fn list(&self, query: &Query) -> Result<Vec<Entry>> {
        let mut entries = walk::entries(&self.folder, query)?;
        if query.needs_facts() {
            // A slice without readable facts belongs to no release.
            entries.retain(|entry| self.facts(entry).is_ok_and(|facts| query.has_facts(&facts)));
        }
        Ok(entries)
    }

    /// Reads the facts of a slice from the beginning of its file, without its stacks.
    pub fn facts(&self, entry: &Entry) -> Result<Facts> {
        let path = self.path(entry);
        let file = File::open(&path).map_err(|e| cannot_read(&path, &e))?;
        pprof::read_facts(file).map_err(|e| e.at_path(path.to_string_lossy()))
    }

    /// Reads a slice. A damaged file is an error of [`Code::Corrupt`] with its path.
    pub fn read(&self, entry: &Entry) -> Result<Slice> {
        let path = self.path(entry);
        let bytes = fs::read(&path).map_err(|e| cannot_read(&path, &e))?;
        pprof::read(&bytes).map_err(|e| e.at_path(path.to_string_lossy()))
    }

    /// Removes slices that ended more than `keep` before `now_ms`, then the oldest until at most `bytes_max` bytes are
    /// left; also temporary files of killed recorders. Returns the number of removed slices, and their bytes.
    pub fn expire(&mut self, now_ms: u64, keep: Duration, bytes_max: u64) -> Result<(u64, u64)> {
        self.counted = None;
        // Times of files are those of the machine, and so is this one.
        walk::remove_leftovers(&self.folder, SystemTime::now() - LEFTOVER_AGE)?;
        let keep_ms = u64::try_from(keep.as_millis()).unwrap_or(u64::MAX);
        let mut entries = walk::entries(&self.folder, &Query::default())?;
        let mut bytes_left: u64 = entries.iter().map(|entry| entry.bytes).sum();
        entries.retain(|entry| {
            let is_old = entry.end_ms().saturating_add(keep_ms) < now_ms;
            let goes = is_old || bytes_left > bytes_max;
            bytes_left -= if goes { entry.bytes } else { 0 };
            goes
        });
        let bytes = entries.iter().map(|entry| entry.bytes).sum();
        for entry in &entries {
            let path = self.path(entry);
            remove(&path)?;
            // Folders go with their last file.
            let parents = path.ancestors().skip(1).take(2);
            parents.take_while(|folder| fs::remove_dir(folder).is_ok()).for_each(drop);
        }
        Ok((entries.len() as u64, bytes))
    }

    /// Returns what the store has, from the names of its files.
    pub fn status(&self) -> Result<Status> {
        let entries = walk::entries(&self.folder, &Query::default())?;
        let mut status = Status {
            slices: entries.len() as u64,
            first_ms: entries.first().map(|entry| entry.begin_ms),
            last_ms: entries.last().map(|entry| entry.begin_ms),
            ..Status::default()
        };
        for entry in entries {
            status.bytes += entry.bytes;
            *status.days.entry(entry.begin_ms / DAY_MS * DAY_MS).or_default() += entry.bytes;
            status.services.push(entry.service);
        }
        status.services.sort();
        status.services.dedup();
        Ok(status)
    }

    /// Returns the path of a slice.
    pub fn path(&self, entry: &Entry) -> PathBuf {
        self.folder.join(entry.id())
    }

    fn count(&self, time_ms: u64) -> Result<Counted> {
        let day_ms = time_ms.min(TIME_MS_MAX) / DAY_MS * DAY_MS;
        match self.counted {
            Some(counted) if counted.day_ms == day_ms && counted.puts < RECOUNT_PUTS => Ok(counted),
            _ => {
                let day = Query { from_ms: Some(day_ms), to_ms: Some(day_ms + DAY_MS), ..Query::default() };
                let bytes = walk::entries(&self.folder, &day)?.iter().map(|entry| entry.bytes).sum();
                Ok(Counted { day_ms, bytes, puts: 0 })
            }
        }
    }
}

pub(super) fn make_folder(folder: &Path) -> Result<()> {
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(folder)
        .map_err(|e| Error::io(Code::Output, "cannot make a folder of the store", &e).at_path(folder.to_string_lossy()))
}

/// Writes a file under a temporary name, syncs and renames it. After an error nothing is left.
pub(super) fn write_whole(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let name = path.file_name().expect("a slice has a name").to_string_lossy();
    let fresh = path.with_file_name(format!(".{name}.{}{}", unique_token(), walk::TEMPORARY));
    let written = (|| {
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&fresh)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        fs::rename(&fresh, path)
    })();
    if written.is_err() {
        // The error that is reported matters more than one of the removal.
        let _ = fs::remove_file(&fresh);
    }
    written?;
    // The name is in the folder; a file system without a sync of folders keeps it as well as it can.
    let _ = path.parent().map(File::open).transpose()?.map(|folder| folder.sync_all());
    Ok(())
}

fn remove(path: &Path) -> Result<()> {
    match fs::remove_file(path) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => {
            Err(Error::io(Code::Output, "cannot remove an old slice", &e).at_path(path.to_string_lossy()))
        }
        _ => Ok(()),
    }
}

fn cannot_read(path: &Path, error: &io::Error) -> Error {
    Error::io(Code::Input, "cannot read a slice", error).at_path(path.to_string_lossy())
}
