//! The job's files, with an eye on what must go when the job ends early: the directories that it makes, until its output has its name.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use yunti_engine::env::files::Meta;
use yunti_engine::env::{File, Files};
use yunti_engine::job::commit::is_temporary;

use super::{removal, state};

pub struct WatchedFiles(pub Arc<dyn Files>);

impl Files for WatchedFiles {
    fn create(&self, path: &Path) -> io::Result<Arc<dyn File>> {
        state::before_new_name();
        self.0.create(path)
    }
    fn create_dir(&self, path: &Path) -> io::Result<()> {
        // What is within a temporary directory goes with it.
        if path.parent().is_some_and(is_temporary) {
            state::before_new_name();
            return self.0.create_dir(path);
        }
        state::hold(|| {
            self.0.create_dir(path)?;
            removal::remember(path, is_temporary(path));
            Ok(())
        })
    }
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        if !is_temporary(from) && !is_temporary(to) {
            return self.0.rename(from, to);
        }
        state::switch(|| {
            self.0.rename(from, to)?;
            if is_temporary(from) {
                removal::forget(from);
            } else {
                removal::remember(to, true);
            }
            Ok(())
        })
    }
    /// The older output has the temporary name from then on, and goes under it.
    fn exchange(&self, a: &Path, b: &Path) -> io::Result<()> {
        if is_temporary(a) { state::switch(|| self.0.exchange(a, b)) } else { self.0.exchange(a, b) }
    }
    fn remove_dir(&self, path: &Path) -> io::Result<()> {
        self.0.remove_dir(path)?;
        removal::forget(path);
        Ok(())
    }
    fn remove_dir_all(&self, path: &Path) -> io::Result<()> {
        self.0.remove_dir_all(path)?;
        removal::forget(path);
        Ok(())
    }
    fn open(&self, path: &Path) -> io::Result<Arc<dyn File>> {
        self.0.open(path)
    }
    fn open_to_write(&self, path: &Path) -> io::Result<Arc<dyn File>> {
        self.0.open_to_write(path)
    }
    fn open_max(&self) -> usize {
        self.0.open_max()
    }
    fn scratch(&self, dir: &Path) -> io::Result<Arc<dyn File>> {
        self.0.scratch(dir)
    }
    fn stdin(&self) -> Arc<dyn File> {
        self.0.stdin()
    }
    fn stdout(&self) -> Arc<dyn File> {
        self.0.stdout()
    }
    fn meta(&self, path: &Path) -> io::Result<Meta> {
        self.0.meta(path)
    }
    fn list(&self, dir: &Path) -> io::Result<Vec<PathBuf>> {
        self.0.list(dir)
    }
    fn remove_file(&self, path: &Path) -> io::Result<()> {
        self.0.remove_file(path)
    }
    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        self.0.sync_dir(path)
    }
    fn free_bytes(&self, path: &Path) -> io::Result<u64> {
        self.0.free_bytes(path)
    }
    fn marks(&self, path: &Path) -> Vec<u64> {
        self.0.marks(path)
    }
}
