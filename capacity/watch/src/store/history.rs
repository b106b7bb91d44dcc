//! History of a watch: records in files that are written whole or not at all, and never changed.
//!
//! A record is written under a temporary name, synced, and renamed to the next free number. Two writers cannot get the
//! same number, a killed one leaves a temporary file that readers ignore, and a full disk leaves nothing.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use rustix::fs::{CWD, RenameFlags, renameat_with};
use rustix::io::Errno;
use yunti_base::process::unique_token;
use yunti_base::{Code, Error, Result};

use crate::record::{Head, Record, from_lines, head_of, to_lines};

const EXTENSION: &str = "record";
const TEMPORARY: &str = "tmp";
const DAMAGED: &str = "damaged";
/// Bytes of a decompressed record at most. Larger ones are damaged or hostile.
const RECORD_BYTES_MAX: u64 = 256 << 20;
/// Records that are kept however old they are.
const KEPT_MIN: usize = 30;
const DAY_MS: u64 = 86_400_000;
/// Age of a temporary file whose writer must have ended.
const LEFTOVER_AGE: Duration = Duration::from_secs(3600);

/// Records of one watch.
#[derive(Clone, Debug)]
pub struct History {
    folder: PathBuf,
}

impl History {
    /// Returns the history in the folder of a watch.
    pub fn at(folder: PathBuf) -> History {
        History { folder }
    }

    /// Returns the numbers of all records, in order.
    pub fn sequences(&self) -> Result<Vec<u64>> {
        numbers(&self.folder)
            .map_err(|e| Error::io(Code::Input, "cannot read the history", &e).at_path(self.folder.to_string_lossy()))
    }

    /// Writes a record and returns its number, which is larger than all others. Errors have the code [`Code::Output`];
    /// older records stay as they are.
    pub fn append(&self, record: &Record) -> Result<u64> {
        let set_aside = numbers(&self.folder.join(DAMAGED)).unwrap_or_default();
        let mut sequence = self.sequences()?.iter().chain(&set_aside).max().map_or(1, |last| last + 1);
        let failed =
            |e: &io::Error| Error::io(Code::Output, "cannot write a record", e).at_path(self.folder.to_string_lossy());
        loop {
            let mut record = record.clone();
            record.head.sequence = sequence;
            let bytes = compressed(&to_lines(&record)).map_err(|e| failed(&e))?;
            match write_whole(&self.path(sequence), &bytes, false) {
                Ok(()) => return Ok(sequence),
                // Another process was faster.
                Err(e) if e.kind() == io::ErrorKind::AlreadyExists => sequence += 1,
                Err(e) => return Err(failed(&e)),
            }
        }
    }

    /// Reads a record and checks it. A damaged file is an error of [`Code::Corrupt`].
    pub fn read(&self, sequence: u64) -> Result<Record> {
        let path = self.path(sequence);
        let mut text = String::new();
        let read = self.open(&path)?.take(RECORD_BYTES_MAX).read_to_string(&mut text);
        read.map_err(|e| self.damaged(&path, &Error::new(Code::Corrupt, e.to_string())))?;
        let mut record = from_lines(&text).map_err(|e| self.damaged(&path, &e))?;
        record.head.sequence = sequence;
        Ok(record)
    }

    /// Reads the head of a record, without checking the rest.
    pub fn head(&self, sequence: u64) -> Result<Head> {
        let path = self.path(sequence);
        let mut line = String::new();
        let read = BufReader::new(self.open(&path)?.take(RECORD_BYTES_MAX)).read_line(&mut line);
        read.map_err(|e| self.damaged(&path, &Error::new(Code::Corrupt, e.to_string())))?;
        let mut head = head_of(&line).map_err(|e| self.damaged(&path, &e))?;
        head.sequence = sequence;
        Ok(head)
    }

    /// Reads the heads of all records, in order.
    pub fn heads(&self) -> Result<Vec<Head>> {
        self.sequences()?.into_iter().map(|sequence| self.head(sequence)).collect()
    }

    /// Reads all records, and moves damaged ones to a folder of their own. Returns the numbers of these.
    pub fn repair(&self) -> Result<Vec<u64>> {
        let mut moved = Vec::new();
        for sequence in self.sequences()? {
            match self.read(sequence) {
                Err(e) if e.code() == Code::Corrupt => {
                    let aside = self.folder.join(DAMAGED);
                    let path = self.path(sequence);
                    fs::create_dir_all(&aside)
                        .and_then(|()| fs::rename(&path, aside.join(path.file_name().unwrap_or_default())))
                        .map_err(|e| {
                            Error::io(Code::Output, "cannot set a record aside", &e).at_path(path.to_string_lossy())
                        })?;
                    moved.push(sequence);
                }
                other => drop(other?),
            }
        }
        Ok(moved)
    }

    /// Removes records that are older than `keep_days` before the newest one, but never the last ones, and never after
    /// a jump of the clock. Returns the number of removed records.
    pub fn expire(&self, keep_days: u32) -> Result<usize> {
        self.remove_leftovers();
        let heads: Vec<Head> = self.sequences()?.into_iter().filter_map(|n| self.head(n).ok()).collect();
        let keep_ms = u64::from(keep_days) * DAY_MS;
        let [.., before, newest] = &heads[..] else { return Ok(0) };
        if keep_days == 0 || newest.time_ms.saturating_sub(before.time_ms) > keep_ms / 2 {
            return Ok(0);
        }
        let limit = newest.time_ms.saturating_sub(keep_ms);
        let old = heads[..heads.len().saturating_sub(KEPT_MIN)].iter().filter(|head| head.time_ms < limit);
        let mut removed = 0;
        for head in old {
            let path = self.path(head.sequence);
            fs::remove_file(&path).map_err(|e| {
                Error::io(Code::Output, "cannot remove an old record", &e).at_path(path.to_string_lossy())
            })?;
            removed += 1;
        }
        Ok(removed)
    }

    /// Returns the bytes of all records.
    pub fn bytes(&self) -> Result<u64> {
        let sizes = self.sequences()?.into_iter().filter_map(|n| fs::metadata(self.path(n)).ok()).map(|m| m.len());
        Ok(sizes.sum())
    }

    fn path(&self, sequence: u64) -> PathBuf {
        self.folder.join(format!("{sequence:010}.{EXTENSION}"))
    }

    fn open(&self, path: &Path) -> Result<GzDecoder<File>> {
        let file = File::open(path)
            .map_err(|e| Error::io(Code::Input, "cannot read a record", &e).at_path(path.to_string_lossy()))?;
        Ok(GzDecoder::new(file))
    }

    fn damaged(&self, path: &Path, error: &Error) -> Error {
        let name = self.folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Error::new(Code::Corrupt, format!("a record is damaged: {}", error.what()))
            .at_path(path.to_string_lossy())
            .hint(error.hint_text().map_or_else(|| format!("`yunti watch repair {name}` sets it aside"), str::to_owned))
    }

    /// Removes temporary files of killed writers.
    fn remove_leftovers(&self) {
        let Ok(entries) = fs::read_dir(&self.folder) else { return };
        for path in entries.flatten().map(|entry| entry.path()) {
            let is_old = || {
                let changed = fs::metadata(&path).and_then(|m| m.modified()).ok();
                changed.and_then(|t| SystemTime::now().duration_since(t).ok()).is_some_and(|age| age > LEFTOVER_AGE)
            };
            if path.extension().is_some_and(|e| e == TEMPORARY) && is_old() {
                let _ = fs::remove_file(path);
            }
        }
    }
}

/// Returns the numbers of the records in a folder, in order.
fn numbers(folder: &Path) -> io::Result<Vec<u64>> {
    let number = |path: PathBuf| {
        let is_record = path.extension().is_some_and(|e| e == EXTENSION);
        is_record.then(|| path.file_stem()?.to_str()?.parse().ok()).flatten()
    };
    let mut numbers: Vec<u64> = fs::read_dir(folder)?.flatten().filter_map(|entry| number(entry.path())).collect();
    numbers.sort_unstable();
    Ok(numbers)
}

fn compressed(text: &str) -> io::Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::new(6));
    encoder.write_all(text.as_bytes())?;
    encoder.finish()
}

/// Writes a file under a temporary name, syncs it, and gives it its name. After an error nothing is left.
///
/// Without `replaces`, an existing file is an error of kind `AlreadyExists`.
pub(super) fn write_whole(path: &Path, bytes: &[u8], replaces: bool) -> io::Result<()> {
    let fresh = path.with_extension(format!("{}.{TEMPORARY}", unique_token()));
    let written = (|| {
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&fresh)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        if replaces {
            return fs::rename(&fresh, path);
        }
        match renameat_with(CWD, &fresh, CWD, path, RenameFlags::NOREPLACE) {
            // A network file system renames over a file always, but links refuse.
            Err(Errno::INVAL | Errno::NOSYS) => {
                fs::hard_link(&fresh, path)?;
                fs::remove_file(&fresh)
            }
            renamed => Ok(renamed?),
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    struct Folder(PathBuf);

    impl Folder {
        fn new() -> Folder {
            let folder = std::env::temp_dir().join(format!("yunti-history-{}", unique_token()));
            fs::create_dir_all(&folder).unwrap();
            Folder(folder)
        }

        fn history(&self) -> History {
            History::at(self.0.clone())
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    fn record(day: u64) -> Record {
        Record {
            head: Head { time_ms: day * DAY_MS, label: format!("v{day}"), ..Head::default() },
            ..Record::default()
        }
    }

    #[test]
    fn records_are_numbered_whatever_the_clock_says() {
        let folder = Folder::new();
        let history = folder.history();
        for day in [5, 3, 9] {
            history.append(&record(day)).unwrap();
        }
        let heads = history.heads().unwrap();
        let found: Vec<(u64, &str)> = heads.iter().map(|head| (head.sequence, &*head.label)).collect();
        assert_eq!(found, [(1, "v5"), (2, "v3"), (3, "v9")]);
    }

    #[test]
    fn writers_at_once_lose_nothing() {
        let folder = Folder::new();
        std::thread::scope(|scope| {
            for writer in 0..4 {
                let history = folder.history();
                scope.spawn(move || (0..10).for_each(|n| assert!(history.append(&record(writer * 100 + n)).is_ok())));
            }
        });
        assert_eq!(folder.history().sequences().unwrap(), (1..=40).collect::<Vec<u64>>());
        assert_eq!(fs::read_dir(&folder.0).unwrap().count(), 40);
    }

    #[test]
    fn damage_is_found_and_set_aside() {
        let folder = Folder::new();
        let history = folder.history();
        for day in 1..=4 {
            history.append(&record(day)).unwrap();
        }
        let whole = fs::read(history.path(2)).unwrap();
        let damages: [(&str, Vec<u8>); 4] = [
            ("cut", whole[..whole.len() / 2].to_vec()),
            ("empty", Vec::new()),
            ("flipped", whole.iter().enumerate().map(|(at, b)| if at == 40 { b ^ 4 } else { *b }).collect()),
            ("other", b"no gzip at all".to_vec()),
        ];
        for (what, bytes) in damages {
            fs::write(history.path(2), bytes).unwrap();
            let error = history.read(2).unwrap_err();
            assert_eq!(error.code(), Code::Corrupt, "{what}: {error}");
            assert!(error.to_string().contains("0000000002.record") && error.to_string().contains("repair"), "{error}");
            assert_eq!(history.repair().unwrap(), [2], "{what}");
            assert_eq!(history.sequences().unwrap(), [1, 3, 4]);
            fs::write(history.path(2), &whole).unwrap();
        }
        // The number of a record that was set aside is not used again.
        assert_eq!(history.append(&record(5)).unwrap(), 5);
        fs::write(history.path(5), b"x").unwrap();
        assert_eq!(history.repair().unwrap(), [5]);
        assert_eq!(history.append(&record(5)).unwrap(), 6);
    }

    #[test]
    fn old_records_go_but_a_jump_of_the_clock_removes_nothing() {
        let folder = Folder::new();
        let history = folder.history();
        for day in 1000..1050 {
            history.append(&record(day)).unwrap();
        }
        assert_eq!(history.expire(400).unwrap(), 0);
        assert_eq!(history.expire(35).unwrap(), 14);
        history.append(&record(9000)).unwrap();
        assert_eq!((history.expire(35).unwrap(), history.sequences().unwrap().len()), (0, 37));
        // Later days beside the jump expire as before; the newest ones stay.
        history.append(&record(9001)).unwrap();
        assert_eq!((history.expire(35).unwrap(), history.sequences().unwrap().len()), (8, 30));
    }

    #[test]
    fn a_failed_write_leaves_nothing() {
        let folder = Folder::new();
        let history = folder.history();
        history.append(&record(1)).unwrap();
        assert!(write_whole(&folder.0.join("no/folder.record"), b"x", false).is_err());
        let taken = write_whole(&history.path(1), b"x", false).unwrap_err();
        assert_eq!(taken.kind(), io::ErrorKind::AlreadyExists);
        assert_eq!((fs::read_dir(&folder.0).unwrap().count(), history.read(1).unwrap().head.label), (1, "v1".into()));
    }
}
