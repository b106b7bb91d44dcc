//! What was changed, line by line: docs/formats/machine-journal.md.
//!
//! A line is on the disk before what it says is begun. Lines are only ever added; the last one of a number says how it stands.

use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use rustix::fs::{FlockOperation, flock};
use serde_json::{Value, json};
use yunti_base::{Code, Error, Result};
use yunti_settings::{Wanted, Write};

pub const USUAL: &str = "/var/lib/yunti/host-journal.jsonl";
const FORMAT: &str = "yunti-host-journal/1";
/// For another one to be done.
const LOCK_ATTEMPTS: u32 = 40;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// It was about to be written.
    Intended,
    Done,
    /// Nothing was changed, or it was taken back at once.
    Failed,
    Undoing,
    Undone,
    /// The machine was started anew: nobody has to undo it.
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
    pub fn name(self) -> &'static str {
        STATES.iter().find(|(state, _)| *state == self).map_or("", |(_, name)| name)
    }
}

/// A change, as its lines tell it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    pub id: u64,
    pub name: String,
    pub time: String,
    pub boot: String,
    pub wanted: Wanted,
    pub state: State,
}

pub struct Journal {
    path: PathBuf,
    file: File,
    pub changes: Vec<Change>,
    /// Lines that could not be read: cut off when they were written.
    pub torn: usize,
}

impl Journal {
    /// Opens it for a change; nobody else has it until it is dropped.
    pub fn open(path: &Path) -> Result<Journal> {
        let failed = |e: std::io::Error| {
            Error::io(Code::Output, "the journal cannot be written", &e)
                .at_path(path.to_string_lossy())
                .hint("name another by --journal")
        };
        let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
        fs::create_dir_all(folder).map_err(failed)?;
        let is_new = !path.exists();
        let mut file = File::options().read(true).append(true).create(true).open(path).map_err(failed)?;
        let mut attempts = 0;
        while let Err(e) = flock(&file, FlockOperation::NonBlockingLockExclusive) {
            attempts += 1;
            if attempts > LOCK_ATTEMPTS || e != rustix::io::Errno::WOULDBLOCK {
                return Err(Error::new(Code::Output, "another yunti machine is at work")
                    .at_path(path.to_string_lossy())
                    .hint("wait for it"));
            }
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
        let (changes, torn, ends_well) = read(&mut file).map_err(failed)?;
        let mut journal = Journal { path: path.to_path_buf(), file, changes, torn };
        if is_new {
            // That the file is there, too.
            File::open(folder).and_then(|folder| folder.sync_all()).map_err(failed)?;
        }
        if !ends_well {
            // What was cut off stays; what comes begins on a line of its own.
            journal.file.write_all(b"\n").map_err(failed)?;
        }
        Ok(journal)
    }

    /// The changes alone, where there are any.
    pub fn look(path: &Path) -> Result<(Vec<Change>, usize)> {
        match File::open(path) {
            Ok(mut file) => {
                let read = read(&mut file).map(|(changes, torn, _)| (changes, torn));
                read.map_err(|e| {
                    Error::io(Code::Input, "the journal cannot be read", &e).at_path(path.to_string_lossy())
                })
            }
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok((Vec::new(), 0)),
            Err(e) => Err(Error::io(Code::Input, "the journal cannot be read", &e).at_path(path.to_string_lossy())),
        }
    }

    /// What is about to be written.
    ///
    /// @return the number of the change
    pub fn intend(&mut self, name: &str, wanted: &Wanted, boot: &str) -> Result<u64> {
        let id = self.changes.iter().map(|change| change.id).max().map_or(1, |id| id + 1);
        let time = now();
        let change = Change {
            id,
            name: name.to_owned(),
            time: time.clone(),
            boot: boot.to_owned(),
            wanted: wanted.clone(),
            state: State::Intended,
        };
        self.add(&json!({
            "format": FORMAT, "version": env!("CARGO_PKG_VERSION"), "id": id, "state": State::Intended.name(), "time": time, "boot": boot, "name": name,
            "new": as_json(&wanted.writes), "old": as_json(&wanted.old), "restore": as_json(&wanted.restore),
        }))?;
        self.changes.push(change);
        Ok(id)
    }

    /// How it stands now.
    pub fn note(&mut self, id: u64, state: State, why: Option<&str>) -> Result<()> {
        let mut line = json!({"id": id, "state": state.name(), "time": now()});
        if let Some(why) = why {
            line["why"] = json!(why);
        }
        self.add(&line)?;
        if let Some(change) = self.changes.iter_mut().find(|change| change.id == id) {
            change.state = state;
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

/// None too where a file is none of the kernel's settings: whatever has become of the journal, no other file is written for it.
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

/// The changes, lines that are none, and whether it ends with a whole line.
fn read(file: &mut File) -> std::io::Result<(Vec<Change>, usize, bool)> {
    // A device may have no end.
    if !file.metadata()?.is_file() {
        return Err(std::io::Error::other("it is no regular file"));
    }
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(0))?;
    file.read_to_end(&mut bytes)?;
    let ends_well = bytes.last().is_none_or(|b| *b == b'\n');
    let (mut changes, mut torn): (Vec<Change>, usize) = (Vec::new(), 0);
    for line in bytes.split(|b| *b == b'\n').filter(|line| !line.is_empty()) {
        if add(&mut changes, line).is_none() {
            torn += 1;
        }
    }
    Ok((changes, torn, ends_well))
}

fn add(changes: &mut Vec<Change>, line: &[u8]) -> Option<()> {
    let line: Value = serde_json::from_slice(line).ok()?;
    let (id, state) = (line["id"].as_u64()?, line["state"].as_str()?);
    let state = STATES.iter().find(|(_, name)| *name == state)?.0;
    if state != State::Intended {
        changes.iter_mut().find(|change| change.id == id)?.state = state;
        return Some(());
    }
    let text = |name: &str| line[name].as_str().map(str::to_owned);
    let wanted =
        Wanted { writes: writes(&line["new"])?, old: writes(&line["old"])?, restore: writes(&line["restore"])? };
    // A number names one change; the largest has none behind it.
    if id == u64::MAX || changes.iter().any(|change| change.id == id) {
        return None;
    }
    changes.push(Change { id, name: text("name")?, time: text("time")?, boot: text("boot")?, wanted, state });
    Some(())
}
