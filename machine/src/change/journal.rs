//! Journal of changes, one JSON line a step: docs/formats/machine-journal.md.
//!
//! A line is synced before its step begins. Lines are only appended; the last line of a number holds its state.

use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use rustix::fs::{FlockOperation, flock};
use serde_json::{Value, json};
use yunti_base::{Code, Error, Result};
use yunti_settings::{Change, Write};

/// Default path of the journal.
pub const DEFAULT_PATH: &str = "/var/lib/yunti/host-journal.jsonl";
const FORMAT: &str = "yunti-host-journal/1";
/// Attempts of 50 ms each to lock the journal.
const LOCK_ATTEMPTS: u32 = 40;

/// State of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// A write was about to begin.
    Intended,
    /// All files are written.
    Done,
    /// No file was changed, or the old values were restored at once.
    Failed,
    /// The restoration has begun.
    Undoing,
    /// The old values are restored.
    Undone,
    /// The machine was rebooted or the device removed; there is nothing to undo.
    Gone,
}

const STATES: [(State, &str); 6] = [
    (State::Intended, "intended"),
    (State::Done, "done"),
    (State::Failed, "failed"),
    (State::Undoing, "undoing"),
    (State::Undone, "undone"),
    (State::Gone, "gone"),
];

impl State {
    /// Returns the name in the journal.
    pub fn name(self) -> &'static str {
        STATES.iter().find(|(state, _)| *state == self).map_or("", |(_, name)| name)
    }
}

/// Change with its state, from the lines of the journal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Number, from 1.
    pub id: u64,
    /// Name of the setting.
    pub name: String,
    /// Time of the first line (RFC 3339).
    pub time: String,
    /// Boot id of the kernel at that time.
    pub boot: String,
    /// Files and values.
    pub change: Change,
    /// Last known state.
    pub state: State,
}

/// Journal that is open for changes, and locked.
pub struct Journal {
    path: PathBuf,
    file: File,
    /// Entries, in the order of the file.
    pub entries: Vec<Entry>,
    /// Lines that could not be parsed, because a write was cut off.
    pub torn: usize,
}

impl Journal {
    /// Opens and locks the journal until it is dropped. Fails if another process holds the lock for two seconds.
    pub fn open(path: &Path) -> Result<Journal> {
        let failed = |e: std::io::Error| {
            Error::io(Code::Output, "the journal cannot be written", &e)
                .at_path(path.to_string_lossy())
                .hint("set another one with --journal")
        };
        let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
        fs::create_dir_all(folder).map_err(failed)?;
        let is_new = !path.exists();
        let mut file = File::options().read(true).append(true).create(true).open(path).map_err(failed)?;
        let mut attempts = 0;
        while let Err(e) = flock(&file, FlockOperation::NonBlockingLockExclusive) {
            attempts += 1;
            if attempts > LOCK_ATTEMPTS || e != rustix::io::Errno::WOULDBLOCK {
                return Err(Error::new(Code::Output, "another yunti machine is running")
                    .at_path(path.to_string_lossy())
                    .hint("wait until it ends"));
            }
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
        let (entries, torn, ends_well) = read(&mut file).map_err(failed)?;
        let mut journal = Journal { path: path.to_path_buf(), file, entries, torn };
        if is_new {
            // The folder entry of the file is synced too.
            File::open(folder).and_then(|folder| folder.sync_all()).map_err(failed)?;
        }
        if !ends_well {
            // A cut-off line stays; the next one begins on a new line.
            journal.file.write_all(b"\n").map_err(failed)?;
        }
        Ok(journal)
    }

    /// Returns the entries and the number of torn lines, without a lock. A missing file has none.
    pub fn read_entries(path: &Path) -> Result<(Vec<Entry>, usize)> {
        match File::open(path) {
            Ok(mut file) => {
                let read = read(&mut file).map(|(entries, torn, _)| (entries, torn));
                read.map_err(|e| {
                    Error::io(Code::Input, "the journal cannot be read", &e).at_path(path.to_string_lossy())
                })
            }
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok((Vec::new(), 0)),
            Err(e) => Err(Error::io(Code::Input, "the journal cannot be read", &e).at_path(path.to_string_lossy())),
        }
    }

    /// Records an intended change, and returns its number.
    pub fn intend(&mut self, name: &str, change: &Change, boot: &str) -> Result<u64> {
        let id = self.entries.iter().map(|entry| entry.id).max().map_or(1, |id| id + 1);
        let time = now();
        let entry = Entry {
            id,
            name: name.to_owned(),
            time: time.clone(),
            boot: boot.to_owned(),
            change: change.clone(),
            state: State::Intended,
        };
        self.add(&json!({
            "format": FORMAT, "version": env!("CARGO_PKG_VERSION"), "id": id, "state": State::Intended.name(),
            "time": time, "boot": boot, "name": name,
            "new": as_json(&change.writes), "old": as_json(&change.old), "restore": as_json(&change.restore),
        }))?;
        self.entries.push(entry);
        Ok(id)
    }

    /// Records the state of a change, with its reason if there is one.
    pub fn note(&mut self, id: u64, state: State, why: Option<&str>) -> Result<()> {
        let mut line = json!({"id": id, "state": state.name(), "time": now()});
        if let Some(why) = why {
            line["why"] = json!(why);
        }
        self.add(&line)?;
        if let Some(entry) = self.entries.iter_mut().find(|entry| entry.id == id) {
            entry.state = state;
        }
        Ok(())
    }

    fn add(&mut self, line: &Value) -> Result<()> {
        let written = self.file.write_all(format!("{line}\n").as_bytes()).and_then(|()| self.file.sync_all());
        written.map_err(|e| {
            Error::io(Code::Output, "the journal cannot be written", &e).at_path(self.path.to_string_lossy())
        })
    }
}

fn now() -> String {
    format!("{:.3}", Timestamp::now())
}

fn as_json(writes: &[Write]) -> Value {
    writes.iter().map(|w| json!({"file": format!("/{}", w.path), "value": w.value})).collect()
}

/// Parses files and values. `None` also for a file that is not a kernel setting, so that a damaged journal can write
/// no other file.
fn writes(value: &Value) -> Option<Vec<Write>> {
    let one = |w: &Value| {
        let path = w["file"].as_str()?.strip_prefix('/')?;
        let is_setting = ["proc/sys/", "sys/"].iter().any(|start| path.starts_with(start));
        let is_straight = path.split('/').all(|name| !matches!(name, "" | "." | ".."));
        (is_setting && is_straight).then_some(())?;
        Some(Write::new(path, w["value"].as_str()?))
    };
    value.as_array()?.iter().map(one).collect()
}

/// Reads the entries, the number of torn lines, and true if the file ends with a whole line.
fn read(file: &mut File) -> std::io::Result<(Vec<Entry>, usize, bool)> {
    // A device may be endless.
    if !file.metadata()?.is_file() {
        return Err(std::io::Error::other("not a regular file"));
    }
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(0))?;
    file.read_to_end(&mut bytes)?;
    let ends_well = bytes.last().is_none_or(|b| *b == b'\n');
    let (mut entries, mut torn): (Vec<Entry>, usize) = (Vec::new(), 0);
    for line in bytes.split(|b| *b == b'\n').filter(|line| !line.is_empty()) {
        if add(&mut entries, line).is_none() {
            torn += 1;
        }
    }
    Ok((entries, torn, ends_well))
}

fn add(entries: &mut Vec<Entry>, line: &[u8]) -> Option<()> {
    let line: Value = serde_json::from_slice(line).ok()?;
    let (id, state) = (line["id"].as_u64()?, line["state"].as_str()?);
    let state = STATES.iter().find(|(_, name)| *name == state)?.0;
    if state != State::Intended {
        entries.iter_mut().find(|entry| entry.id == id)?.state = state;
        return Some(());
    }
    let text = |name: &str| line[name].as_str().map(str::to_owned);
    let change =
        Change { writes: writes(&line["new"])?, old: writes(&line["old"])?, restore: writes(&line["restore"])? };
    // A number belongs to one change; behind the largest there is none.
    if id == u64::MAX || entries.iter().any(|entry| entry.id == id) {
        return None;
    }
    entries.push(Entry { id, name: text("name")?, time: text("time")?, boot: text("boot")?, change, state });
    Some(())
}
