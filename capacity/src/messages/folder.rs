//! Folder with the captured messages: its owner is the service's user, and nobody else may read it.

use std::fs;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};

use yunti_base::process::unique_token;
use yunti_base::{Code, Error, Result};

use super::service::Service;

/// Copy of the agent's jar, while the folder is in use.
pub const JAR: &str = "yunti-messages.jar";
const PREFIX: &str = "yunti-messages-";

/// Removes the folder of its argument when its standard input ends, which is when this process ends.
const KEEPER: &str = "trap '' INT TERM HUP; cat > /dev/null; rm -rf -- \"$0\"";

/// Folder that is removed when it is dropped, or when this process is killed.
pub struct Folder {
    path: PathBuf,
    keeper: Option<Child>,
    is_kept: bool,
}

impl Folder {
    /// Makes an empty folder with the mode 0700. Removes the folders of runs that were killed.
    pub fn make(service: &Service) -> Result<Folder> {
        let all = std::env::temp_dir();
        remove_stale(&all, service.user);
        let path = all.join(format!("{PREFIX}{}-{}", std::process::id(), unique_token()));
        let failed = |e: std::io::Error| {
            Error::io(Code::Output, "cannot make a folder for the messages", &e).at_path(path.to_string_lossy())
        };
        fs::DirBuilder::new().mode(0o700).create(&path).map_err(failed)?;
        let mut folder = Folder { path: path.clone(), keeper: None, is_kept: false };
        folder.give("", service)?;
        let mut keeper = service.as_owner(Path::new("/bin/sh"));
        // In a group of its own, so that a signal from the terminal does not end it.
        keeper.args(["-c", KEEPER]).arg(&path).stdin(Stdio::piped()).process_group(0);
        folder.keeper = Some(keeper.spawn().map_err(failed)?);
        Ok(folder)
    }

    /// Returns the path of a file in the folder; of the folder itself for an empty name.
    pub fn path(&self, name: &str) -> PathBuf {
        if name.is_empty() { self.path.clone() } else { self.path.join(name) }
    }

    /// Gives a file, or the folder itself, to the service's user.
    pub fn give(&self, name: &str, service: &Service) -> Result<()> {
        let path = self.path(name);
        // Only root may, and only root has to.
        let is_given = fs::metadata(&path).is_ok_and(|it| it.uid() == service.user);
        if is_given {
            return Ok(());
        }
        chown(&path, Some(service.user), Some(service.group)).map_err(|e| {
            Error::io(Code::Output, "cannot give to the service's user", &e).at_path(path.to_string_lossy())
        })
    }

    /// Keeps the folder, with the messages alone.
    pub fn keep(mut self, file: &str) -> PathBuf {
        self.is_kept = true;
        if let Some(keeper) = &mut self.keeper {
            let _ = keeper.kill();
        }
        for entry in fs::read_dir(&self.path).into_iter().flatten().flatten() {
            if entry.file_name() != file {
                let _ = fs::remove_file(entry.path());
            }
        }
        self.path.clone()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if !self.is_kept {
            let _ = fs::remove_dir_all(&self.path);
        }
        if let Some(mut keeper) = self.keeper.take() {
            drop(keeper.stdin.take());
            let _ = keeper.wait();
        }
    }
}

/// Removes folders of this user whose run has ended. A kept folder has no jar any more, and stays.
fn remove_stale(all: &Path, user: u32) {
    for entry in fs::read_dir(all).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let Some(pid) = name.strip_prefix(PREFIX).and_then(|rest| rest.split('-').next()) else { continue };
        let is_ours = entry.metadata().is_ok_and(|it| it.is_dir() && it.uid() == user);
        let is_kept = !entry.path().join(JAR).exists();
        if is_ours && !is_kept && !Path::new("/proc").join(pid).exists() {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}
