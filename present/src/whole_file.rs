//! A file that is there whole or not at all: written under another name beside it, and renamed.

use std::fs;
use std::path::Path;

use yunti_engine::base::{Code, Error, Result};

/// `what` is what an error calls it: `the report`.
pub fn write(path: &Path, text: &str, what: &str) -> Result<()> {
    let failed = |e: std::io::Error| {
        Error::io(Code::Output, &format!("cannot write {what}"), &e).at_path(path.to_string_lossy())
    };
    // A pipe or a device, such as /dev/stderr, is written to and not replaced.
    if fs::metadata(path).is_ok_and(|m| !m.is_file()) {
        return fs::write(path, text).map_err(failed);
    }
    let mut fresh = path.as_os_str().to_owned();
    fresh.push(format!(".{}.tmp", std::process::id()));
    fs::write(&fresh, text).and_then(|()| fs::rename(&fresh, path)).map_err(|e| {
        let _ = fs::remove_file(&fresh);
        failed(e)
    })
}
