//! What of ours is brought into a JVM: it lies where Yunti is installed, and a JVM that does not see our files gets a copy in its /tmp.

use std::fs;
use std::path::{Path, PathBuf};

use yunti_base::{Code, Error, Result};

use super::folder::Folder;
use yunti_probe::target::Process;

/// Where a file is for a JVM, as the JVM calls it.
pub fn place(process: &Process, folder: &Folder, file: &str, copy: &str) -> Result<String> {
    let installed = installed(file)?;
    if process.shares_files() {
        return Ok(installed.to_string_lossy().into_owned());
    }
    fs::copy(&installed, folder.path(copy)).map_err(|e| {
        // On a full disk a part of it is there.
        let _ = fs::remove_file(folder.path(copy));
        let error = Error::io(Code::Input, &format!("{file} cannot be put where the JVM finds it"), &e);
        error.at_path(process.path(&Folder::inside(copy)).to_string_lossy()).hint("run as root")
    })?;
    Ok(Folder::inside(copy))
}

/// Beside this program: `../lib/yunti/FILE`.
fn installed(file: &str) -> Result<PathBuf> {
    let program =
        std::env::current_exe().map_err(|e| Error::io(Code::Internal, "this program does not know where it is", &e))?;
    let path = program.ancestors().nth(2).unwrap_or(Path::new("/")).join("lib/yunti").join(file);
    if path.is_file() {
        return Ok(path);
    }
    let error = Error::new(Code::Input, format!("{file} is missing")).at_path(path.to_string_lossy());
    Err(error.hint("`make observe` puts it there"))
}
