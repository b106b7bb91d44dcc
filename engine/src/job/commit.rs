//! The output directory: written under a name that readers skip, renamed when everything is there.
//!
//! ```text
//!   PARENT/.OUT._temporary-PID/part-r-00000 .. _SUCCESS _yunti/report.json   --rename-->   PARENT/OUT
//! ```
//!
//! One rename makes all of it appear at once: a job that is killed at any moment leaves no output, at most the directory above, which
//! the next job for the same output removes.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::base::{Code, Error, Result};
use crate::env::{FewOpen, Files, NamedFile};

#[derive(Clone)]
pub struct Place {
    files: Arc<dyn Files>,
    directory: PathBuf,
}

impl Place {
    /// A directory that somebody else makes appear or disappear.
    pub fn new(files: Arc<dyn Files>, directory: PathBuf) -> Place {
        Place { files, directory }
    }

    pub fn create(&self, name: &str) -> Result<NamedFile> {
        NamedFile::create(&*self.files, &self.directory.join(name), Code::Output)
    }
}

/// Between the name of the output and the number of the process.
const TEMPORARY: &str = "._temporary-";

/// Returns true for the name that an output has before it is committed.
pub fn is_temporary(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let number = name.rsplit_once(TEMPORARY).filter(|(output, _)| output.starts_with('.')).map(|(_, number)| number);
    number.is_some_and(|number| !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()))
}

pub struct Pending {
    files: Arc<dyn Files>,
    output: PathBuf,
    temporary: PathBuf,
    /// Where an older output is while the new one is put in its place in steps.
    older: PathBuf,
    /// Parents that were made for this output, outermost first.
    made: Vec<PathBuf>,
    /// Directories within the output.
    dirs: Vec<PathBuf>,
    overwrite: bool,
    done: bool,
}

impl Pending {
    pub fn begin(files: Arc<dyn Files>, output: &Path, overwrite: bool) -> Result<Pending> {
        if exists(&*files, output)? && !overwrite {
            return Err(Error::new(Code::Exists, "the output exists already")
                .at_path(output.to_string_lossy())
                .hint("name another, or use --overwrite"));
        }
        let Some(name) = output.file_name() else {
            return Err(Error::new(Code::Usage, "the output has no name").at_path(output.to_string_lossy()));
        };
        let parent = parent_of(output);
        let beside = |what: &str| parent.join(format!(".{}{what}{}", name.to_string_lossy(), std::process::id()));
        let (temporary, older) = (beside(TEMPORARY), beside("._older-"));
        let (made, dirs) = (Vec::new(), Vec::new());
        let mut pending =
            Pending { files, output: output.into(), temporary, older, made, dirs, overwrite, done: false };
        pending.make_parents(&parent)?;
        pending.remove_stale(&parent);
        pending.files.create_dir(&pending.temporary).map_err(|e| {
            Error::io(Code::Output, "cannot make the output directory", &e).at_path(output.to_string_lossy())
        })?;
        Ok(pending)
    }

    fn make_parents(&mut self, parent: &Path) -> Result<()> {
        let mut missing = Vec::new();
        let mut at = Some(parent);
        while let Some(dir) = at.filter(|d| !d.as_os_str().is_empty() && self.files.meta(d).is_err()) {
            missing.push(dir.to_path_buf());
            at = dir.parent();
        }
        for dir in missing.into_iter().rev() {
            match self.files.create_dir(&dir) {
                Ok(()) => self.made.push(dir),
                Err(e) if e.kind() == std::io::ErrorKind::AlreadyExists => {}
                Err(e) => {
                    return Err(Error::io(Code::Output, "cannot make the directory", &e).at_path(dir.to_string_lossy()));
                }
            }
        }
        Ok(())
    }

    /// Removes what killed jobs for the same output left. A process that runs is left alone; so is an older output while there is no
    /// newer one.
    fn remove_stale(&self, parent: &Path) {
        let in_place = exists(&*self.files, &self.output).unwrap_or(false);
        let stem = |path: &Path| path.to_string_lossy().trim_end_matches(|c: char| c.is_ascii_digit()).to_string();
        let (temporary, older) = (stem(&self.temporary), stem(&self.older));
        for path in self.files.list(parent).unwrap_or_default() {
            let name = path.to_string_lossy();
            let Some(pid) = (name.strip_prefix(&temporary))
                .or_else(|| name.strip_prefix(&older).filter(|_| in_place))
                .and_then(|pid| pid.parse::<u32>().ok())
            else {
                continue;
            };
            let own = pid == std::process::id();
            if own || exists(&*self.files, Path::new(&format!("/proc/{pid}"))).is_ok_and(|runs| !runs) {
                self.forget(&path);
            }
        }
    }

    pub fn create(&self, name: &str) -> Result<NamedFile> {
        self.place().create(name)
    }

    /// Where files are made, for whoever makes them while tasks run.
    pub fn place(&self) -> Place {
        Place { files: self.files.clone(), directory: self.temporary.clone() }
    }

    /// A part of the output, which may be one of very many.
    pub fn create_part(&self, name: &str, few: &Arc<FewOpen>) -> Result<NamedFile> {
        let path = self.temporary.join(name);
        let file = few.create(&path);
        let file = file.map_err(|e| Error::io(Code::Output, "cannot create", &e).at_path(path.to_string_lossy()))?;
        Ok(NamedFile::new(file, &path, Code::Output))
    }

    pub fn create_dir(&mut self, name: &str) -> Result<()> {
        let path = self.temporary.join(name);
        self.files
            .create_dir(&path)
            .map_err(|e| Error::io(Code::Output, "cannot make the directory", &e).at_path(path.to_string_lossy()))?;
        self.dirs.push(path);
        Ok(())
    }

    /// Makes the output appear. On an error what was there before is there again.
    pub fn commit(mut self, durable: bool) -> Result<()> {
        let place = self.output.to_string_lossy().into_owned();
        let failed =
            |e: std::io::Error| Error::io(Code::Output, "cannot put the output in place", &e).at_path(place.as_str());
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
            // Where even that fails, the older one is beside the new one, as they are.
            self.done = self.take_back(older.as_deref()).is_err();
            return Err(failed(e));
        }
        self.done = true;
        if let Some(older) = older {
            self.forget(&older);
        }
        Ok(())
    }

    /// The names in the output, and those of directories that were made for it.
    fn sync_names(&self) -> std::io::Result<()> {
        self.files.sync_dir(&self.temporary)?;
        for dir in &self.dirs {
            self.files.sync_dir(dir)?;
        }
        self.made.iter().try_for_each(|dir| self.files.sync_dir(&parent_of(dir)))
    }

    /// Puts the output in the place of an older one, at once where the file system can: no moment is without either. Returns where the
    /// older one is now.
    fn replace(&self) -> std::io::Result<PathBuf> {
        match self.files.exchange(&self.temporary, &self.output) {
            Err(e) if e.kind() == std::io::ErrorKind::Unsupported => {}
            result => return result.map(|()| self.temporary.clone()),
        }
        self.files.rename(&self.output, &self.older)?;
        if let Err(e) = self.files.rename(&self.temporary, &self.output) {
            let _ = self.files.rename(&self.older, &self.output);
            return Err(e);
        }
        Ok(self.older.clone())
    }

    /// Undoes what put the output in place.
    fn take_back(&self, older: Option<&Path>) -> std::io::Result<()> {
        match older {
            Some(older) if older == self.temporary => self.files.exchange(older, &self.output),
            Some(older) => {
                self.files.rename(&self.output, &self.temporary)?;
                self.files.rename(older, &self.output)
            }
            // A directory that refuses new names may still give up old ones; what says that all of it is there goes first.
            None => self.files.rename(&self.output, &self.temporary).or_else(|_| {
                self.files.remove_file(&self.output.join("_SUCCESS"))?;
                self.files.remove_dir_all(&self.output)
            }),
        }
    }

    /// Removes the older output. What cannot be removed does not make the new one less good: readers skip its name, and the next job
    /// for the same output tries again.
    fn forget(&self, old: &Path) {
        let _ = self.files.remove_dir_all(old).or_else(|_| self.files.remove_file(old));
    }
}

/// Whether there is something of this name; an error where that cannot be told.
fn exists(files: &dyn Files, path: &Path) -> Result<bool> {
    match files.meta(path) {
        Ok(_) => Ok(true),
        Err(e) if matches!(e.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory) => Ok(false),
        Err(e) => Err(Error::io(Code::Output, "cannot look for the output", &e).at_path(path.to_string_lossy())),
    }
}

fn parent_of(path: &Path) -> PathBuf {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_path_buf(),
        _ => PathBuf::from("."),
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        if !self.done {
            let _ = self.files.remove_dir_all(&self.temporary);
            for dir in self.made.iter().rev() {
                let _ = self.files.remove_dir(dir);
            }
        }
    }
}
