//! A file that the engine lends to a source, as the one file of `Files`, so that another library can read it.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use yunti_api::SourceFile;
use yunti_engine::env::files::{LockScope, Meta};
use yunti_engine::env::{File, Files};

/// Files with one name, whatever it is. It is read, and nothing else.
pub struct OneFile(pub SourceFile);

fn no<T>() -> io::Result<T> {
    Err(io::ErrorKind::Unsupported.into())
}

impl File for OneFile {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let left = usize::try_from(self.0.len().saturating_sub(offset)).unwrap_or(usize::MAX);
        let n = buffer.len().min(left);
        self.0.read_at(&mut buffer[..n], offset).map_err(|e| io::Error::other(e.to_string()))?;
        Ok(n)
    }
    fn write_at(&self, _: &[u8], _: u64) -> io::Result<usize> {
        no()
    }
    fn len(&self) -> io::Result<u64> {
        Ok(self.0.len())
    }
    fn allocate(&self, _: u64) -> io::Result<()> {
        no()
    }
    fn truncate(&self, _: u64) -> io::Result<()> {
        no()
    }
    fn sync(&self) -> io::Result<()> {
        no()
    }
    fn punch(&self, _: u64, _: u64) {}
    fn lock(&self) -> io::Result<LockScope> {
        no()
    }
}

impl Files for OneFile {
    fn open(&self, _: &Path) -> io::Result<Arc<dyn File>> {
        Ok(Arc::new(OneFile(self.0.clone())))
    }
    fn create(&self, _: &Path) -> io::Result<Arc<dyn File>> {
        no()
    }
    fn open_to_write(&self, _: &Path) -> io::Result<Arc<dyn File>> {
        no()
    }
    fn open_max(&self) -> usize {
        1
    }
    fn scratch(&self, _: &Path) -> io::Result<Arc<dyn File>> {
        no()
    }
    fn stdin(&self) -> Arc<dyn File> {
        Arc::new(OneFile(self.0.clone()))
    }
    fn stdout(&self) -> Arc<dyn File> {
        Arc::new(OneFile(self.0.clone()))
    }
    fn meta(&self, _: &Path) -> io::Result<Meta> {
        Ok(Meta { len: self.0.len(), is_dir: false, is_stream: false, modified_ms: 0 })
    }
    fn list(&self, _: &Path) -> io::Result<Vec<PathBuf>> {
        no()
    }
    fn create_dir(&self, _: &Path) -> io::Result<()> {
        no()
    }
    fn rename(&self, _: &Path, _: &Path) -> io::Result<()> {
        no()
    }
    fn exchange(&self, _: &Path, _: &Path) -> io::Result<()> {
        no()
    }
    fn remove_file(&self, _: &Path) -> io::Result<()> {
        no()
    }
    fn remove_dir(&self, _: &Path) -> io::Result<()> {
        no()
    }
    fn remove_dir_all(&self, _: &Path) -> io::Result<()> {
        no()
    }
    fn sync_dir(&self, _: &Path) -> io::Result<()> {
        no()
    }
    fn free_bytes(&self, _: &Path) -> io::Result<u64> {
        no()
    }
}
