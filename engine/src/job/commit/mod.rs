//! The output directory: written in the directory of its claim, which readers skip, and renamed when complete.
//!
//! ```text
//!   PARENT/.OUT._temporary/new/part-r-00000 .. _SUCCESS _yunti/report.json   --rename-->   PARENT/OUT
//! ```
//!
//! One rename makes the whole output appear. A job that is killed leaves no output, at most the directory of its claim,
//! which the next job for the same output removes (claim.rs).

mod claim;
mod holder;
mod leftovers;
mod locked_directory;
mod other_job;

use std::path::{Path, PathBuf};
use std::sync::Arc;

pub use self::claim::{Claim, ClaimOptions};
use self::claim::{exists, parent_of, remove_any};

use crate::env::stores::scheme_of;
use crate::env::{Files, NamedFile, OpenFilePool};
use yunti_base::store_protocol::TEMPORARY;
use yunti_base::{Code, Error, Result};

/// A directory in which tasks create files of the output.
#[derive(Clone)]
pub struct OutputDirectory {
    files: Arc<dyn Files>,
    directory: PathBuf,
}

impl OutputDirectory {
    /// Wraps a directory whose owner commits or removes it.
    pub fn new(files: Arc<dyn Files>, directory: PathBuf) -> OutputDirectory {
        OutputDirectory { files, directory }
    }

    /// Creates a file in the directory. Errors: `Output`, with the path.
    pub fn create(&self, name: impl AsRef<Path>) -> Result<NamedFile> {
        NamedFile::create(&*self.files, &self.directory.join(name), Code::Output)
    }

    /// Creates a directory in the directory.
    pub fn create_dir(&self, name: &Path) -> std::io::Result<()> {
        self.files.create_dir(&self.directory.join(name))
    }

    /// Syncs the names in a directory below the directory.
    pub fn sync_dir(&self, name: &Path) -> std::io::Result<()> {
        self.files.sync_dir(&self.directory.join(name))
    }
}

/// Name of the new output within the directory of its claim.
pub const FRESH: &str = "new";

/// Name of the replaced output within the same directory, between two renames.
pub const OLDER: &str = "older";

/// The lock file of a claim, in its directory.
pub const LOCK: &str = "_lock";

/// Returns true for the name of a claim's directory: `.OUT._temporary`, or `.OUT._temporary-TOKEN` before it is taken.
pub fn is_temporary(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let token = name.rsplit_once(TEMPORARY).filter(|(output, _)| output.starts_with('.')).map(|(_, token)| token);
    token.is_some_and(|token| token.is_empty() || token.starts_with('-'))
}

/// An output that is being written. Dropping it without a commit removes its files.
pub struct PendingOutput {
    files: Arc<dyn Files>,
    claim: Arc<Claim>,
    output: PathBuf,
    temporary: PathBuf,
    /// Path of an older output while the new one takes its place in two renames.
    older: PathBuf,
    /// Directories within the output.
    dirs: Vec<PathBuf>,
    overwrite: bool,
    done: bool,
}

impl PendingOutput {
    /// Begins to write the output of `claim`, through `files`. `overwrite`: the commit may replace an output. `keeps`
    /// returns true for the name of a file that an earlier attempt wrote and this one needs; the others are removed.
    pub fn begin(
        files: Arc<dyn Files>,
        claim: Arc<Claim>,
        overwrite: bool,
        keeps: &dyn Fn(&str) -> bool,
    ) -> Result<PendingOutput> {
        let (output, temporary, older) = (claim.output().to_path_buf(), claim.fresh(), claim.older());
        let pending =
            PendingOutput { files, claim, output, temporary, older, dirs: Vec::new(), overwrite, done: false };
        let failed = |e: std::io::Error| {
            Error::io(Code::Output, "cannot make the output directory", &e).at_path(pending.output.to_string_lossy())
        };
        match pending.files.create_dir(&pending.temporary) {
            Ok(()) => return Ok(pending),
            Err(e) if e.kind() != std::io::ErrorKind::AlreadyExists => return Err(failed(e)),
            Err(_) => {}
        }
        for path in pending.files.list(&pending.temporary).map_err(failed)? {
            if !path.file_name().is_some_and(|name| keeps(&name.to_string_lossy())) {
                remove_any(&*pending.files, &path).map_err(failed)?;
            }
        }
        Ok(pending)
    }

    /// Returns the bytes of the files whose names `counts` returns true for.
    pub fn bytes_where(&self, counts: &dyn Fn(&str) -> bool) -> Result<u64> {
        let failed = |e: std::io::Error| {
            Error::io(Code::Output, "cannot read the directory", &e).at_path(self.temporary.to_string_lossy())
        };
        let names = self.files.list(&self.temporary).map_err(failed)?;
        let names = names.iter().filter(|path| path.file_name().is_some_and(|name| counts(&name.to_string_lossy())));
        names.map(|path| self.files.meta(path).map(|meta| meta.len).map_err(failed)).sum()
    }

    /// Leaves the files for a later attempt of the job.
    pub fn keep(&mut self) {
        self.done = true;
        self.claim.keep();
    }

    /// Opens a part that an earlier attempt wrote, as `create_part` does.
    pub fn open_part(&self, name: &str, few: &Arc<OpenFilePool>) -> Result<NamedFile> {
        let path = self.temporary.join(name);
        let file = few.open(&path);
        let file = file.map_err(|e| Error::io(Code::Output, "cannot open", &e).at_path(path.to_string_lossy()))?;
        Ok(NamedFile::new(file, &path, Code::Output))
    }

    /// Creates a file of the output. Errors: `Output`, with the path.
    pub fn create(&self, name: &str) -> Result<NamedFile> {
        self.directory().create(name)
    }

    /// Returns the directory in which tasks make files.
    pub fn directory(&self) -> OutputDirectory {
        OutputDirectory { files: self.files.clone(), directory: self.temporary.clone() }
    }

    /// Creates a part of the output through `few`, which limits the number of open files.
    pub fn create_part(&self, name: &str, few: &Arc<OpenFilePool>) -> Result<NamedFile> {
        let path = self.temporary.join(name);
        let file = few.create(&path);
        let file = file.map_err(|e| Error::io(Code::Output, "cannot create", &e).at_path(path.to_string_lossy()))?;
        Ok(NamedFile::new(file, &path, Code::Output))
    }

    /// Removes a part of the output, by its path. Errors: `Output`.
    pub fn remove_part(&self, path: &str) -> Result<()> {
        self.files
            .remove_file(Path::new(path))
            .map_err(|e| Error::io(Code::Output, "cannot remove an empty part", &e).at_path(path))
    }

    /// Creates a directory within the output.
    pub fn create_dir(&mut self, name: &str) -> Result<()> {
        let path = self.temporary.join(name);
        self.files
            .create_dir(&path)
            .map_err(|e| Error::io(Code::Output, "cannot make the directory", &e).at_path(path.to_string_lossy()))?;
        self.dirs.push(path);
        Ok(())
    }

    /// Waits until a store has the bytes of all files. This may take minutes, in which a job can be cancelled; the
    /// commit is short.
    pub fn finish_uploads(&self) -> Result<()> {
        if scheme_of(&self.output).is_none() {
            return Ok(());
        }
        self.files.sync_dir(&self.temporary).map_err(|e| {
            Error::io(Code::Output, "cannot put the output in place", &e).at_path(self.output.to_string_lossy())
        })
    }

    /// Makes the output appear under its name. On an error the earlier state is restored.
    ///
    /// Errors: `Exists` if an output appeared and may not be replaced; `Output` if the claim was lost or a file
    /// operation failed.
    pub fn commit(&mut self, durable: bool) -> Result<()> {
        let place = self.output.to_string_lossy().into_owned();
        let failed = |e: std::io::Error| {
            // A store notices at the commit alone that another job was faster.
            let code = if e.kind() == std::io::ErrorKind::AlreadyExists { Code::Exists } else { Code::Output };
            Error::io(code, "cannot put the output in place", &e).at_path(place.as_str())
        };
        self.claim.check()?;
        if durable {
            self.sync_names().map_err(failed)?;
        }
        let older = if !exists(&*self.files, &self.output)? {
            self.files.rename(&self.temporary, &self.output).map_err(failed)?;
            None
        } else if self.overwrite {
            Some(self.replace().map_err(failed)?)
        } else {
            return Err(Error::new(Code::Exists, "the output appeared while the job ran")
                .at_path(place)
                .hint("name another, or use --overwrite"));
        };
        if durable && let Err(e) = self.files.sync_dir(&parent_of(&self.output)) {
            // If even the undo fails, both outputs stay under their present names.
            self.done = self.take_back(older.as_deref()).is_err();
            if self.done {
                self.claim.set_committed();
                self.claim.keep_output();
            }
            return Err(failed(e));
        }
        self.done = true;
        self.claim.set_committed();
        // Leftovers do no harm: readers skip their name, and the next job removes them.
        if let Some(older) = older {
            self.claim.remove(&older);
        }
        Ok(())
    }

    /// Syncs the names in the output, and the names of parent directories that were made for it.
    fn sync_names(&self) -> std::io::Result<()> {
        self.files.sync_dir(&self.temporary)?;
        for dir in &self.dirs {
            self.files.sync_dir(dir)?;
        }
        self.claim.made_parents().iter().try_for_each(|dir| self.files.sync_dir(&parent_of(dir)))
    }

    /// Puts the output in the place of an older one, in one step where the file system can exchange names. Returns the
    /// path of the older output.
    fn replace(&self) -> std::io::Result<PathBuf> {
        match self.files.exchange(&self.temporary, &self.output) {
            Err(e) if e.kind() == std::io::ErrorKind::Unsupported => {}
            result => return result.map(|()| self.temporary.clone()),
        }
        self.files.rename(&self.output, &self.older)?;
        if let Err(e) = self.files.rename(&self.temporary, &self.output) {
            if self.files.rename(&self.older, &self.output).is_err() {
                // The next job for this output puts the older one back.
                self.claim.keep_output();
            }
            return Err(e);
        }
        Ok(self.older.clone())
    }

    /// Undoes the renames that put the output in place.
    fn take_back(&self, older: Option<&Path>) -> std::io::Result<()> {
        match older {
            Some(older) if older == self.temporary => self.files.exchange(older, &self.output),
            Some(older) => {
                self.files.rename(&self.output, &self.temporary)?;
                self.files.rename(older, &self.output)
            }
            // A directory that refuses new names may still allow removal. `_SUCCESS`, the mark of a complete output,
            // goes first.
            None => self.files.rename(&self.output, &self.temporary).or_else(|_| {
                self.files.remove_file(&self.output.join("_SUCCESS"))?;
                self.files.remove_dir_all(&self.output)
            }),
        }
    }
}

impl Drop for PendingOutput {
    fn drop(&mut self) {
        if !self.done {
            self.claim.remove(&self.temporary);
        }
    }
}
