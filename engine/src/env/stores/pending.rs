//! An output that is being written to a store: a directory in this process, whose files are uploads.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};

use yunti_base::store_protocol::{Ask, UploadedFile};

use super::link::Link;
use super::upload::Upload;
use crate::env::files::{File, Meta};

/// Output of one job. Names are paths within the directory of the claim: `new/part-r-00000`.
pub struct Pending {
    link: Arc<Link>,
    output: String,
    base: String,
    tree: Mutex<Tree>,
}

#[derive(Default)]
struct Tree {
    files: BTreeMap<PathBuf, Arc<Upload>>,
    directories: BTreeSet<PathBuf>,
    is_committed: bool,
}

impl Pending {
    /// `base`: address under which files are uploaded.
    pub fn new(link: Arc<Link>, output: String, base: String) -> Pending {
        let tree = Tree { directories: [PathBuf::new()].into(), ..Tree::default() };
        Pending { link, output, base, tree: Mutex::new(tree) }
    }

    /// Returns the address of the output.
    pub fn output(&self) -> &str {
        &self.output
    }

    fn lock(&self) -> MutexGuard<'_, Tree> {
        self.tree.lock().unwrap_or_else(|e| e.into_inner())
    }

    pub fn create(&self, path: &Path) -> io::Result<Arc<dyn File>> {
        let mut tree = self.lock();
        if tree.files.contains_key(path) || tree.directories.contains(path) {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        // The first name is the one of the new output within the claim.
        let mut names = path.components();
        names.next();
        let name = names.as_path().to_string_lossy().into_owned();
        let upload = Arc::new(Upload::new(self.link.clone(), format!("{}/{name}", self.base), name));
        tree.files.insert(path.into(), upload.clone());
        Ok(upload)
    }

    pub fn file(&self, path: &Path) -> io::Result<Arc<Upload>> {
        self.lock().files.get(path).cloned().ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    pub fn create_dir(&self, path: &Path) -> io::Result<()> {
        let is_new = self.lock().directories.insert(path.into());
        if is_new { Ok(()) } else { Err(io::ErrorKind::AlreadyExists.into()) }
    }

    pub fn meta(&self, path: &Path) -> io::Result<Meta> {
        let tree = self.lock();
        let file = tree.files.get(path);
        if file.is_none() && !tree.directories.contains(path) {
            return Err(io::ErrorKind::NotFound.into());
        }
        let len = file.map_or(0, |file| file.bytes());
        Ok(Meta { len, is_dir: file.is_none(), is_stream: false, modified_ms: 0 })
    }

    /// Returns the paths in a directory.
    pub fn list(&self, path: &Path) -> Vec<PathBuf> {
        let tree = self.lock();
        let all = tree.files.keys().chain(&tree.directories);
        let mut paths: Vec<PathBuf> = all.filter(|name| name.parent() == Some(path)).cloned().collect();
        paths.sort();
        paths
    }

    pub fn remove_file(&self, path: &Path) -> io::Result<()> {
        let file = self.lock().files.remove(path);
        file.ok_or(io::ErrorKind::NotFound)?.abort()
    }

    /// Removes a directory with its files.
    pub fn remove_tree(&self, path: &Path) -> io::Result<()> {
        let mut tree = self.lock();
        let paths: Vec<PathBuf> = tree.files.keys().filter(|name| name.starts_with(path)).cloned().collect();
        let files: Vec<Arc<Upload>> = paths.iter().filter_map(|path| tree.files.remove(path)).collect();
        tree.directories.retain(|name| !name.starts_with(path));
        drop(tree);
        // After one that fails, the store process ends the others: a store that is gone would cost the time of all.
        files.iter().try_for_each(|file| file.abort())
    }

    /// Sends what is left of all files, and waits until the store has it.
    pub fn finish(&self) -> io::Result<Vec<UploadedFile>> {
        let files: Vec<Arc<Upload>> = self.lock().files.values().cloned().collect();
        files.iter().map(|file| file.finish()).collect()
    }

    /// Makes the output visible.
    pub fn commit(&self, overwrite: bool) -> io::Result<()> {
        let files = self.finish()?;
        let (output, base) = (self.output.clone(), self.base.clone());
        self.link.call(Ask::Commit { output, base, files, overwrite })?;
        let mut tree = self.lock();
        tree.files.clear();
        tree.is_committed = true;
        Ok(())
    }

    /// Ends the output. What is not committed goes.
    pub fn end(&self) -> io::Result<()> {
        let removed = self.remove_tree(Path::new(""));
        if self.lock().is_committed {
            return removed;
        }
        let (output, base) = (self.output.clone(), self.base.clone());
        removed.and(self.link.call(Ask::End { output, base }).map(|_| ()))
    }
}
