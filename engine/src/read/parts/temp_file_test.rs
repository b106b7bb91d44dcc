//! A file of one test, removed at its end.

use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::env::NamedFile;
use crate::env::real::RealFiles;
use yunti_base::Code;

/// File with a name of its own.
pub struct TempFile(pub PathBuf);

impl TempFile {
    pub fn new(bytes: &[u8]) -> TempFile {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let name = format!("yunti-read-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let path = std::env::temp_dir().join(name);
        std::fs::write(&path, bytes).unwrap();
        TempFile(path)
    }
    pub fn open(&self) -> NamedFile {
        NamedFile::open(&RealFiles, &self.0, Code::Input).unwrap()
    }
}

impl Drop for TempFile {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}
