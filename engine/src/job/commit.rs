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
use crate::env::{Files, NamedFile};

#[derive(Clone)]
pub struct Place {
    files: Arc<dyn Files>,
    directory: PathBuf,
}

impl Place {
    pub fn create(&self, name: &str) -> Result<NamedFile> {
        NamedFile::create(&*self.files, &self.directory.join(name), Code::Output)
    }
}

pub struct Pending {
    files: Arc<dyn Files>,
    output: PathBuf,
    temporary: PathBuf,
    /// Parents that were made for this output, outermost first.
    made: Vec<PathBuf>,
    overwrite: bool,
    done: bool,
}

impl Pending {
    pub fn begin(files: Arc<dyn Files>, output: &Path, overwrite: bool) -> Result<Pending> {
        if files.meta(output).is_ok() && !overwrite {
            return Err(Error::new(Code::Exists, "the output exists already")
                .at_path(output.to_string_lossy())
                .hint("name another, or use --overwrite"));
        }
        let Some(name) = output.file_name() else {
            return Err(Error::new(Code::Usage, "the output has no name").at_path(output.to_string_lossy()));
        };
        let parent = match output.parent() {
            Some(p) if !p.as_os_str().is_empty() => p.to_path_buf(),
            _ => PathBuf::from("."),
        };
        let stem = format!(".{}._temporary-", name.to_string_lossy());
        let temporary = parent.join(format!("{stem}{}", std::process::id()));
        let mut pending = Pending { files, output: output.into(), temporary, made: Vec::new(), overwrite, done: false };
        pending.make_parents(&parent)?;
        pending.remove_stale(&parent, &stem);
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

    /// Removes what killed jobs for the same output left. A process that runs is left alone.
    fn remove_stale(&self, parent: &Path, stem: &str) {
        for path in self.files.list(parent).unwrap_or_default() {
            let Some(name) = path.file_name().and_then(|n| n.to_str()) else { continue };
            let Some(pid) = name.strip_prefix(stem).and_then(|p| p.parse::<u32>().ok()) else { continue };
            let own = pid == std::process::id();
            if own || self.files.meta(Path::new(&format!("/proc/{pid}"))).is_err() {
                let _ = self.files.remove_dir_all(&path);
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

    pub fn create_dir(&self, name: &str) -> Result<()> {
        let path = self.temporary.join(name);
        self.files
            .create_dir(&path)
            .map_err(|e| Error::io(Code::Output, "cannot make the directory", &e).at_path(path.to_string_lossy()))
    }

    /// Makes the output appear.
    pub fn commit(mut self, durable: bool) -> Result<()> {
        let place = self.output.to_string_lossy().into_owned();
        let failed =
            |e: std::io::Error| Error::io(Code::Output, "cannot put the output in place", &e).at_path(place.as_str());
        if durable {
            self.files.sync_dir(&self.temporary).map_err(failed)?;
        }
        if self.overwrite && self.files.meta(&self.output).is_ok() {
            self.replace().map_err(failed)?;
        } else if self.files.meta(&self.output).is_ok() {
            return Err(Error::new(Code::Exists, "the output appeared while the job ran")
                .at_path(place)
                .hint("name another, or use --overwrite"));
        } else {
            self.files.rename(&self.temporary, &self.output).map_err(failed)?;
            self.done = true;
        }
        if durable && let Some(parent) = self.output.parent().filter(|p| !p.as_os_str().is_empty()) {
            self.files.sync_dir(parent).map_err(failed)?;
        }
        Ok(())
    }
}

impl Pending {
    /// Puts the output in the place of an older one, at once where the file system can: no moment is without either.
    fn replace(&mut self) -> std::io::Result<()> {
        match self.files.exchange(&self.temporary, &self.output) {
            Err(e) if e.kind() == std::io::ErrorKind::Unsupported => {}
            result => {
                result?;
                self.done = true;
                self.forget(&self.temporary);
                return Ok(());
            }
        }
        let old = self.temporary.with_extension(format!("old-{}", std::process::id()));
        self.files.rename(&self.output, &old)?;
        if let Err(e) = self.files.rename(&self.temporary, &self.output) {
            let _ = self.files.rename(&old, &self.output);
            return Err(e);
        }
        self.done = true;
        self.forget(&old);
        Ok(())
    }

    /// Removes the older output. What cannot be removed does not make the new one less good: readers skip its name.
    fn forget(&self, old: &Path) {
        let _ = match self.files.meta(old) {
            Ok(meta) if meta.is_dir => self.files.remove_dir_all(old),
            _ => self.files.remove_file(old),
        };
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
