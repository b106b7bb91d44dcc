//! Installed files that are loaded into a JVM. A JVM that cannot see these files gets a copy in its /tmp.

use std::fs;
use std::path::{Path, PathBuf};

use yunti_base::{Code, Error, Result};

use super::folder::Folder;
use yunti_probe::target::Process;

/// Returns the path of an installed file for the JVM, or for a copy of it.
pub fn place(process: &Process, folder: &Folder, file: &str, copy: &str) -> Result<String> {
    let installed = installed(file)?;
    if process.shares_files() {
        return Ok(installed.to_string_lossy().into_owned());
    }
    fs::copy(&installed, folder.path(copy)).map_err(|e| {
        // A full disk leaves a part of the file.
        let _ = fs::remove_file(folder.path(copy));
        let error = Error::io(Code::Input, &format!("cannot copy {file} to where the JVM finds it"), &e);
        error.at_path(process.path(&Folder::inside(copy)).to_string_lossy()).hint("run as root")
    })?;
    Ok(Folder::inside(copy))
}

/// Returns the path of an installed file: `../lib/yunti/FILE` beside this program.
fn installed(file: &str) -> Result<PathBuf> {
    let program =
        std::env::current_exe().map_err(|e| Error::io(Code::Internal, "cannot find the path of this program", &e))?;
    let path = program.ancestors().nth(2).unwrap_or(Path::new("/")).join("lib/yunti").join(file);
    if path.is_file() {
        return Ok(path);
    }
    let error = Error::new(Code::Input, format!("{file} is missing")).at_path(path.to_string_lossy());
    Err(error.hint("run `make observe`"))
}
