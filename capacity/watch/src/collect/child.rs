//! Child: another program under a supervisor, with its output in files. It ends in time, or it is ended.

use std::fs::{self, DirBuilder, File};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child as Process, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use yunti_base::process::unique_token;
use yunti_base::{Cancel, Code, Error, Result};

use super::supervisor::{GRACE, LATE};

const POLL: Duration = Duration::from_millis(20);
/// Bytes of output that are read at most.
const OUTPUT_BYTES_MAX: u64 = 64 << 20;

/// Folder for files of one measurement, which goes with it.
pub struct Work(PathBuf);

impl Work {
    /// Creates the folder, for this user alone.
    pub fn begin() -> Result<Work> {
        let folder = std::env::temp_dir().join(format!("yunti-watch-{}", unique_token()));
        let made = DirBuilder::new().mode(0o700).create(&folder);
        made.map_err(|e| {
            Error::io(Code::Output, "cannot make a folder", &e).at_path(folder.to_string_lossy()).hint("set TMPDIR")
        })?;
        Ok(Work(folder))
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Work {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
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
