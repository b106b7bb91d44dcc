//! Atomic file writes: the text goes to a temporary file in the same directory, which is then renamed.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::path::Path;

use crate::process::unique_token;
use crate::{Code, Error, Result};

/// Writes `text` to `path` atomically. `what` names the file in errors, for example `the report`.
///
/// A pipe or a device, such as /dev/stderr, is written directly. Errors have the code [`Code::Output`].
pub fn write(path: &Path, text: &str, what: &str) -> Result<()> {
    if fs::metadata(path).is_ok_and(|m| !m.is_file()) {
        return fs::write(path, text).map_err(|e| failed(path, what, &e));
    }
    let fresh = beside(path);
    fs::write(&fresh, text).and_then(|()| fs::rename(&fresh, path)).map_err(|e| {
        let _ = fs::remove_file(&fresh);
        failed(path, what, &e)
    })
}

/// Checks that `path` can be written, before the work whose result it holds. Errors have the code [`Code::Output`].
pub fn check(path: &Path, what: &str) -> Result<()> {
    match fs::metadata(path) {
        Ok(there) if there.is_dir() => Err(failed(path, what, &io::Error::from(io::ErrorKind::IsADirectory))),
        Ok(there) if !there.is_file() => Ok(()),
        _ => {
            let fresh = beside(path);
            File::create(&fresh).and_then(|_| fs::remove_file(&fresh)).map_err(|e| failed(path, what, &e))
        }
    }
}

fn beside(path: &Path) -> OsString {
    let mut fresh = path.as_os_str().to_owned();
    // Process ids of two containers that share the directory may be the same.
    fresh.push(format!(".{}.tmp", unique_token()));
    fresh
}

fn failed(path: &Path, what: &str, error: &io::Error) -> Error {
    Error::io(Code::Output, &format!("cannot write {what}"), error).at_path(path.to_string_lossy())
}
