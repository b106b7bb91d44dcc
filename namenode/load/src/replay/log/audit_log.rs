//! Audit log of one or several files: the events to replay, and what is left out.

use std::collections::{BTreeMap, HashMap};
use std::io::BufRead;
use std::ops::ControlFlow;
use std::path::PathBuf;

use yunti_base::{Code, Error, Result};

use super::audit_line::{self, AuditLine, Parsed};
use super::clock::Clock;
use super::text_file;
use crate::replay::command::Command;

/// A call to replay.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// Milliseconds from the first line of the log.
    pub at_ms: u64,
    /// False if the NameNode refused the call by its permissions.
    pub is_allowed: bool,
    /// Number of the user in [`Users`].
    pub user: u32,
    pub command: Command,
    pub src: String,
    /// Target of a rename.
    pub dst: Option<String>,
    /// True for a rename that replaces its target.
    pub is_overwriting: bool,
    /// Owner, group and mode after the call.
    pub status: Option<(String, String, u16)>,
}

/// Names of users by their numbers.
#[derive(Clone, Debug, Default)]
pub struct Users {
    numbers: HashMap<String, u32>,
    pub names: Vec<String>,
}

impl Users {
    /// Returns the number of a name, a new one for a new name.
    pub fn number(&mut self, name: &str) -> u32 {
        if let Some(number) = self.numbers.get(name) {
            return *number;
        }
        let number = self.names.len() as u32;
        self.numbers.insert(name.to_owned(), number);
        self.names.push(name.to_owned());
        number
    }
}

/// Lines of a log by what becomes of them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LineCounts {
    pub lines: u64,
    pub events: u64,
    /// Events that the NameNode refused.
    pub denied: u64,
    /// Lines of other loggers.
    pub other: u64,
    /// Lines of the audit log that are cut, or have no time.
    pub cut: u64,
    /// File and line number of the first of them.
    pub first_cut: Option<(String, u64)>,
    /// Lines of commands that are not replayed, by command.
    pub unknown: BTreeMap<String, u64>,
    /// Lines whose paths cannot be replayed: snapshots, /.reserved, invalid ones.
    pub paths: u64,
    /// Times that the clock of the log was set back.
    pub set_back: u64,
    /// Milliseconds from the first to the last event.
    pub span_ms: u64,
}

/// Distinct names of commands that are counted by name; the rest of a damaged log counts as cut.
const COMMANDS_MAX: usize = 200;

/// Files of a log, the oldest first.
pub struct AuditLog {
    files: Vec<PathBuf>,
}

impl AuditLog {
    /// Sorts the files by the times of their first lines.
    ///
    /// # Errors
    /// A file cannot be read, or has no line of an audit log.
    pub fn open(paths: &[PathBuf]) -> Result<AuditLog> {
        let mut files = Vec::new();
        for path in paths {
            let mut first = None;
            each_line(path, |text, _| {
                first = match audit_line::parse(text) {
                    Parsed::Line(line) => Some(line.time_ms),
                    _ => None,
                };
                Ok(if first.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
            })?;
            let none = || {
                Error::new(Code::Input, "the file has no line of a NameNode's audit log")
                    .at_path(path.to_string_lossy())
                    .hint("a line has a date, a time, and allowed=, ugi=, cmd=, src=, dst= and perm= between tabs")
            };
            files.push((first.ok_or_else(none)?, path.clone()));
        }
        files.sort_by_key(|(first, _)| *first);
        Ok(AuditLog { files: files.into_iter().map(|(_, path)| path).collect() })
    }

    /// Passes each event on, until `each` breaks.
    ///
    /// # Errors
    /// A file cannot be read to its end, or `each` fails.
    pub fn read(
        &self,
        users: &mut Users,
        mut each: impl FnMut(Event) -> Result<ControlFlow<()>>,
    ) -> Result<LineCounts> {
        let (mut counts, mut clock, mut is_over) = (LineCounts::default(), Clock::default(), false);
        for path in &self.files {
            each_line(path, |text, number| {
                counts.lines += 1;
                match audit_line::parse(text) {
                    Parsed::Other => counts.other += 1,
                    Parsed::Cut => counts.cut_at(path.to_string_lossy().into_owned(), number),
                    Parsed::Line(line) => {
                        let at_ms = clock.at(line.time_ms);
                        if let Some(event) = counts.event(line, at_ms, users, path, number) {
                            counts.events += 1;
                            counts.denied += u64::from(!event.is_allowed);
                            counts.span_ms = at_ms;
                            is_over = each(event)?.is_break();
                        }
                    }
                }
                Ok(if is_over { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
            })?;
            if is_over {
                break;
            }
        }
        counts.set_back = clock.set_back;
        Ok(counts)
    }
}

impl LineCounts {
    fn cut_at(&mut self, file: String, line: u64) {
        self.cut += 1;
        self.first_cut.get_or_insert((file, line));
    }

    /// Returns the event of a line, or counts why there is none.
    fn event(
        &mut self,
        line: AuditLine,
        at_ms: u64,
        users: &mut Users,
        file: &std::path::Path,
        number: u64,
    ) -> Option<Event> {
        let Some(command) = Command::of(line.command) else {
            if self.unknown.len() < COMMANDS_MAX || self.unknown.contains_key(line.command) {
                *self.unknown.entry(line.command.to_owned()).or_default() += 1;
            } else {
                self.cut_at(file.to_string_lossy().into_owned(), number);
            }
            return None;
        };
        let src = line.src.and_then(plain);
        let dst = line.dst.filter(|_| command == Command::Rename).map(plain);
        let (Some(src), Some(dst)) =
            (src, dst.map_or((command != Command::Rename).then_some(None), |dst| dst.map(Some)))
        else {
            self.paths += 1;
            return None;
        };
        Some(Event {
            at_ms,
            is_allowed: line.is_allowed,
            user: users.number(line.user),
            command,
            src,
            dst,
            is_overwriting: line.options.contains("OVERWRITE"),
            status: line.status.map(|status| (status.owner.to_owned(), status.group.to_owned(), status.mode)),
        })
    }
}

/// Returns a path without a slash at its end, so the root is empty; None if it cannot be replayed elsewhere.
fn plain(mut path: String) -> Option<String> {
    while path.ends_with('/') {
        path.pop();
    }
    let is_wrong = |part: &str| matches!(part, "" | "." | ".." | ".snapshot") || part.contains(':');
    let parts = if path.is_empty() { "" } else { path.strip_prefix('/')? };
    if parts.starts_with(".reserved") || !path.is_empty() && parts.split('/').any(is_wrong) {
        return None;
    }
    Some(path)
}

/// Passes each line and its number, from 1, on.
fn each_line(path: &std::path::Path, mut each: impl FnMut(&str, u64) -> Result<ControlFlow<()>>) -> Result<()> {
    let mut file: Box<dyn BufRead + Send> = text_file::open(path)?;
    let (mut bytes, mut number) = (Vec::new(), 0);
    while text_file::line(&mut *file, &mut bytes).map_err(|e| text_file::broken(path, &e))? {
        number += 1;
        if each(&String::from_utf8_lossy(&bytes), number)?.is_break() {
            break;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    struct Folder(PathBuf);

    impl Folder {
        fn new(name: &str) -> Folder {
            let path = std::env::temp_dir().join(format!("yunti-audit-log-{}-{name}", std::process::id()));
            std::fs::create_dir_all(&path).unwrap();
            Folder(path)
        }

        fn file(&self, name: &str, bytes: &[u8]) -> PathBuf {
            let path = self.0.join(name);
            std::fs::write(&path, bytes).unwrap();
            path
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }

    fn line(second: u32, user: &str, command: &str, src: &str, dst: &str) -> String {
        format!(
            "2026-11-25 09:00:{second:02},000 INFO FSNamesystem.audit: allowed={}\tugi={user} (auth:SIMPLE)\tip=/1\t\
             cmd={command}\tsrc={src}\tdst={dst}\tperm=null\tproto=rpc\n",
            user != "eve"
        )
    }

    fn read(paths: &[PathBuf]) -> (Vec<Event>, LineCounts, Users) {
        let (mut events, mut users) = (Vec::new(), Users::default());
        let counts = AuditLog::open(paths).unwrap().read(&mut users, |event| {
            events.push(event);
            Ok(ControlFlow::Continue(()))
        });
        (events, counts.unwrap(), users)
    }

    #[test]
    fn reads_rotated_files_in_the_order_of_their_times() {
        let folder = Folder::new("order");
        let newer = folder.file("audit.log", line(7, "bo", "rename", "/a/", "/b").as_bytes());
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gzip.write_all((line(5, "al", "open", "/a", "null") + &line(6, "eve", "create", "/c", "null")).as_bytes())
            .unwrap();
        let older = folder.file("audit.log.1", &gzip.finish().unwrap());
        let (events, counts, users) = read(&[newer, older]);
        let row = |event: &Event| (event.at_ms, event.command, event.user, event.is_allowed);
        assert_eq!(
            events.iter().map(row).collect::<Vec<_>>(),
            [(0, Command::Open, 0, true), (1000, Command::Create, 1, false), (2000, Command::Rename, 2, true)]
        );
        assert_eq!((events[2].src.as_str(), events[2].dst.as_deref()), ("/a", Some("/b")));
        assert_eq!((counts.events, counts.denied, counts.span_ms), (3, 1, 2000));
        assert_eq!(users.names, ["al", "eve", "bo"]);
    }

    #[test]
    fn counts_what_is_left_out() {
        let folder = Folder::new("hostile");
        let mut text = line(1, "al", "getfileinfo", "/", "null");
        text += &line(2, "al", "fsck", "/", "null");
        text += &line(2, "al", "open", "/a/.snapshot/s/x", "null");
        text += &line(2, "al", "open", "/.reserved/.inodes/7", "null");
        text += &line(2, "al", "rename", "/a", "null");
        text += &line(2, "al", "create", "null", "null");
        text += &line(2, "al", "open", "/a//b", "null");
        text += "java.io.IOException: x\n\tat y\n";
        text += &line(3, "al", "open", "/a", "null")[..90];
        text += "\n";
        text += &line(4, "al", "open", "/b", "null");
        let bytes = [text.as_bytes(), b"\xff\xfe\x00 allowed=\n", &[b'x'; 2 << 20]].concat();
        let (events, counts, _) = read(&[folder.file("log", &bytes)]);
        assert_eq!(events.iter().map(|event| event.src.as_str()).collect::<Vec<_>>(), ["", "/b"]);
        assert_eq!((counts.lines, counts.events, counts.other, counts.cut, counts.paths), (13, 2, 3, 2, 5));
        assert_eq!(counts.unknown, BTreeMap::from([("fsck".to_owned(), 1)]));
        assert_eq!(counts.first_cut.unwrap().1, 10);
    }

    #[test]
    fn refuses_files_without_a_line() {
        let folder = Folder::new("none");
        for bytes in [&b""[..], b"hello\n", b"\x1f\x8b"] {
            assert!(AuditLog::open(&[folder.file("log", bytes)]).is_err(), "{bytes:?}");
        }
        assert!(AuditLog::open(&[folder.0.join("missing")]).is_err());
    }
}
