//! Files that remember the directories a job makes, which are removed if the job ends before its output has its name.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use yunti_base::store_protocol::Traffic;
use yunti_engine::env::files::Meta;
use yunti_engine::env::{File, Files, Storage};
use yunti_engine::job::commit::{OLDER, is_temporary};
use yunti_engine::job::journal::JOURNAL;

use super::{removal, state};

/// Returns the directory of the claim that a path is in.
fn claim_of(path: &Path) -> Option<&Path> {
    path.ancestors().skip(1).find(|directory| is_temporary(directory))
}

pub struct WatchedFiles(pub Arc<dyn Files>);

impl Files for WatchedFiles {
    fn create(&self, path: &Path) -> io::Result<Arc<dyn File>> {
        state::before_new_name();
        self.0.create(path)
    }
    fn create_dir(&self, path: &Path) -> io::Result<()> {
        // A directory in a claim is removed with the claim.
        if claim_of(path).is_some() {
            state::before_new_name();
            return self.0.create_dir(path);
        }
        state::hold(|| {
            self.0.create_dir(path)?;
            removal::remember(path, is_temporary(path));
            Ok(())
        })
    }
    /// ```text
    ///   .OUT._temporary-TOKEN -> .OUT._temporary     the claim is taken
    ///   OUT -> claim/older                           the claim has the only copy of the older output: keep it
    ///   claim/new -> OUT, OUT -> claim/new           the commit, and its reversal
    ///   claim/older -> OUT                           the older output is restored
    ///   claim/journal.new -> claim/journal           a later attempt needs the claim: keep it
    /// ```
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        if is_temporary(from) {
            return state::hold(|| {
                self.0.rename(from, to)?;
                removal::forget(from);
                removal::remember(to, true);
                Ok(())
            });
        }
        let is_older = |path: &Path| path.file_name().is_some_and(|name| name == OLDER);
        match (claim_of(from), claim_of(to)) {
            (None, Some(claim)) if is_older(to) => state::hold(|| {
                self.0.rename(from, to)?;
                removal::forget(claim);
                Ok(())
            }),
            (Some(claim), None) if is_older(from) => state::hold(|| {
                self.0.rename(from, to)?;
                removal::remember(claim, true);
                Ok(())
            }),
            (Some(_), Some(claim)) if to.file_name().is_some_and(|name| name == JOURNAL) => state::hold(|| {
                self.0.rename(from, to)?;
                removal::forget(claim);
                Ok(())
            }),
            (None, Some(_)) | (Some(_), None) => state::switch(|| self.0.rename(from, to)),
            _ => self.0.rename(from, to),
        }
    }
    /// After the exchange the older output is in the claim, and is removed with it.
    fn exchange(&self, a: &Path, b: &Path) -> io::Result<()> {
        if claim_of(a).is_some() { state::switch(|| self.0.exchange(a, b)) } else { self.0.exchange(a, b) }
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
    fn storage(&self, dir: &Path) -> Option<Storage> {
        self.0.storage(dir)
    }
    fn is_shared(&self, path: &Path) -> bool {
        self.0.is_shared(path)
    }
    fn absolute(&self, path: &Path) -> PathBuf {
        self.0.absolute(path)
    }
    fn upcoming(&self, pieces: &[(&Path, u64, u64)]) {
        self.0.upcoming(pieces);
    }
    fn transfer_bytes(&self, limit: u64) -> u64 {
        self.0.transfer_bytes(limit)
    }
    fn traffic(&self) -> Option<Traffic> {
        self.0.traffic()
    }
    fn marks(&self, path: &Path) -> Vec<u64> {
        self.0.marks(path)
    }
}
