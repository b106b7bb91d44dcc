//! Child: another program under a supervisor, with its output in files. It ends in time, or it is ended.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child as Process, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::fs::{FlockOperation, OFlags, flock, statvfs};
use serde_json::Value;
use yunti_base::process::unique_token;
use yunti_base::{Cancel, Code, Error, Result};

use super::supervisor::{GRACE, LATE};

/// Free bytes for slices, output and errors.
const SPACE_MIN: u64 = 16 << 20;
const LOCK: FlockOperation = FlockOperation::NonBlockingLockExclusive;
const POLL: Duration = Duration::from_millis(20);
/// Bytes of output that are read at most.
const OUTPUT_BYTES_MAX: u64 = 64 << 20;

/// Begin of the names of folders, and the file that a running measurement has locked.
const FOLDER: &str = "yunti-watch-";
const ALIVE: &str = "alive";

/// Folder for files of one measurement, which goes with it. The next measurement removes what a killed one left.
pub struct Work {
    folder: PathBuf,
    _alive: Option<File>,
}

impl Work {
    /// Creates the folder, for this user alone.
    pub fn begin() -> Result<Work> {
        remove_leftovers(&std::env::temp_dir());
        let folder = std::env::temp_dir().join(format!("{FOLDER}{}", unique_token()));
        let made = DirBuilder::new().mode(0o700).create(&folder);
        made.map_err(|e| {
            Error::io(Code::Output, "cannot make a folder", &e).at_path(folder.to_string_lossy()).hint("set TMPDIR")
        })?;
        let alive = File::create(folder.join(ALIVE)).ok().filter(|file| flock(file, LOCK).is_ok());
        let work = Work { folder, _alive: alive };
        check_space(&work.folder)?;
        Ok(work)
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }
}

impl Drop for Work {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// Checks that a measurement has space for its files: without it, programs fail and cannot say why.
fn check_space(folder: &Path) -> Result<()> {
    let Ok(found) = statvfs(folder) else { return Ok(()) };
    let free = found.f_bavail.saturating_mul(found.f_frsize);
    if free >= SPACE_MIN {
        return Ok(());
    }
    let what = format!("a measurement needs {} MiB for its files, {} MiB are free", SPACE_MIN >> 20, free >> 20);
    let parent = folder.parent().unwrap_or(folder).to_string_lossy().into_owned();
    Err(Error::new(Code::Output, what).at_path(parent).hint("free some space, or set TMPDIR"))
}

/// Removes folders of measurements of this user that run no more: nobody holds their lock.
fn remove_leftovers(parent: &Path) {
    let user = rustix::process::geteuid().as_raw();
    let is_ours = |path: &Path| fs::symlink_metadata(path).is_ok_and(|file| file.is_dir() && file.uid() == user);
    let folders = fs::read_dir(parent).into_iter().flatten().flatten();
    for folder in folders.filter(|entry| entry.file_name().to_string_lossy().starts_with(FOLDER)) {
        let path = folder.path();
        let alive =
            OpenOptions::new().read(true).custom_flags(OFlags::NOFOLLOW.bits().cast_signed()).open(path.join(ALIVE));
        if is_ours(&path) && alive.is_ok_and(|file| flock(&file, LOCK).is_ok()) {
            let _ = fs::remove_dir_all(path);
        }
    }
}

/// Program that runs.
pub struct Child {
    supervisor: Process,
    name: String,
    output: PathBuf,
    errors: PathBuf,
    end: Instant,
}

/// Output of a program that has ended.
pub struct Answer {
    code: Option<i32>,
    pub output: String,
    errors: String,
}

impl Child {
    /// Starts a program. `name` names it in errors and its files in `work`; after `time` it is ended.
    pub fn start(command: &Command, name: &str, time: Duration, work: &Work) -> Result<Child> {
        let (output, errors) = (work.path(&format!("{name}.out")), work.path(&format!("{name}.err")));
        let file = |path: &Path| {
            File::create(path)
                .map_err(|e| Error::io(Code::Output, "cannot write a file", &e).at_path(path.to_string_lossy()))
        };
        let failed = |e: io::Error| Error::io(Code::Input, &format!("cannot start '{name}'"), &e);
        let supervisor = Command::new(std::env::current_exe().map_err(failed)?)
            .args(["supervise", "--seconds", &time.as_secs_f64().to_string(), "--"])
            .arg(command.get_program())
            .args(command.get_args())
            .stdin(Stdio::piped())
            .stdout(file(&output)?)
            .stderr(file(&errors)?)
            .process_group(0)
            .spawn()
            .map_err(failed)?;
        Ok(Child { supervisor, name: name.to_owned(), output, errors, end: Instant::now() + time + GRACE * 2 })
    }

    /// Returns true while the program runs.
    pub fn is_running(&mut self) -> bool {
        matches!(self.supervisor.try_wait(), Ok(None))
    }

    /// Asks the program to end, and waits for it.
    pub fn stop(mut self) -> Result<Answer> {
        drop(self.supervisor.stdin.take());
        self.wait(&Cancel::default())
    }

    /// Waits for the end. Errors: cancellation, no output.
    pub fn wait(mut self, cancel: &Cancel) -> Result<Answer> {
        let failed = |e: io::Error| Error::io(Code::Input, "cannot wait for a program", &e);
        let status = loop {
            if let Some(status) = self.supervisor.try_wait().map_err(failed)? {
                break status;
            }
            // The drop of self ends the program.
            cancel.check()?;
            if Instant::now() >= self.end {
                return Err(Error::new(Code::Input, format!("'{}' does not end", self.name)));
            }
            std::thread::sleep(POLL);
        };
        Ok(Answer { code: status.code(), output: self.read(&self.output)?, errors: self.read(&self.errors)? })
    }

    fn read(&self, path: &Path) -> Result<String> {
        let size = fs::metadata(path).map_or(0, |file| file.len());
        if size > OUTPUT_BYTES_MAX {
            return Err(Error::new(Code::Input, format!("'{}' printed {size} bytes", self.name)));
        }
        let bytes = fs::read(path)
            .map_err(|e| Error::io(Code::Input, "cannot read the output", &e).at_path(path.to_string_lossy()))?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        drop(self.supervisor.stdin.take());
        // The supervisor itself is bounded: it kills the program after its time of grace.
        let _ = self.supervisor.wait();
    }
}

impl Answer {
    /// Returns true if the program says that its input failed: for a load run, the server.
    pub fn has_bad_input(&self) -> bool {
        self.code == Some(i32::from(Code::Input as u8))
    }

    /// Returns the reason of a failure in one line; `None` if the program succeeded.
    pub fn failure(&self) -> Option<String> {
        match self.code {
            Some(0) => return None,
            Some(code) if code == i32::from(LATE) => return Some("it took too long and was ended".to_owned()),
            _ => {}
        }
        // With --json, a failure is a document on standard output.
        let document: Option<Value> = serde_json::from_str(&self.output).ok();
        let message = document.and_then(|d| Some(d["error"]["message"].as_str()?.to_owned()));
        let line = self.errors.lines().find(|line| !line.trim().is_empty());
        let line = line.map(|line| line.trim_start_matches("yunti: ").to_owned());
        message.or(line).or_else(|| Some(format!("exit code {}", self.code.unwrap_or(-1))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_of_killed_measurements_go() {
        let parent = std::env::temp_dir().join(format!("yunti-leftovers-{}", unique_token()));
        for name in ["yunti-watch-killed", "yunti-watch-alive", "yunti-watch-other", "else"] {
            fs::create_dir_all(parent.join(name)).unwrap();
        }
        let file = |name: &str| File::create(parent.join(name).join(ALIVE)).unwrap();
        drop(file("yunti-watch-killed"));
        let alive = file("yunti-watch-alive");
        flock(&alive, LOCK).unwrap();
        file("else");
        remove_leftovers(&parent);
        let mut left: Vec<String> =
            fs::read_dir(&parent).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        left.sort();
        assert_eq!(left, ["else", "yunti-watch-alive", "yunti-watch-other"]);
        fs::remove_dir_all(parent).unwrap();
    }

    #[test]
    fn failures_have_a_reason() {
        let answer = |code, output: &str, errors: &str| Answer { code, output: output.into(), errors: errors.into() };
        for (answer, reason) in [
            (answer(Some(0), "{}", "a note"), None),
            (answer(Some(3), "", "\nyunti: no such thing\nmore"), Some("no such thing")),
            (answer(Some(3), "{\"error\":{\"message\":\"m\"}}", "WARNING x"), Some("m")),
            (answer(Some(124), "", ""), Some("it took too long and was ended")),
            (answer(Some(7), "", ""), Some("exit code 7")),
        ] {
            assert_eq!(answer.failure().as_deref(), reason);
        }
    }
}
