//! Files with their own standard input and output.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use yunti_engine::env::Files;
use yunti_engine::env::files::{File, Meta, Stream, StreamFile};
use yunti_engine::env::real::RealFiles;

pub struct Streams {
    stdin: Arc<StreamFile<Pipe>>,
    stdout: Arc<StreamFile<Pipe>>,
    open_max: usize,
}

/// Bytes read from the front, and appended at the end.
#[derive(Default)]
struct Pipe(Mutex<Vec<u8>>);

impl Streams {
    /// `open_max` files may be open at once.
    pub fn new(stdin: &[u8], open_max: usize) -> Arc<Streams> {
        Arc::new(Streams {
            stdin: Arc::new(StreamFile(Pipe(Mutex::new(stdin.to_vec())))),
            stdout: Arc::new(StreamFile(Pipe::default())),
            open_max,
        })
    }

    /// Bytes written to standard output.
    pub fn written(&self) -> Vec<u8> {
        self.stdout.0.0.lock().unwrap().clone()
    }
}

impl Stream for Pipe {
    fn read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut bytes = self.0.lock().unwrap();
        let n = buffer.len().min(bytes.len());
        buffer[..n].copy_from_slice(&bytes[..n]);
        bytes.drain(..n);
        Ok(n)
    }
    fn write(&self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }
}

impl Files for Streams {
    fn stdin(&self) -> Arc<dyn File> {
        self.stdin.clone()
    }
    fn stdout(&self) -> Arc<dyn File> {
        self.stdout.clone()
    }
    fn open(&self, path: &Path) -> io::Result<Arc<dyn File>> {
        RealFiles.open(path)
    }
    fn create(&self, path: &Path) -> io::Result<Arc<dyn File>> {
        RealFiles.create(path)
    }
    fn open_to_write(&self, path: &Path) -> io::Result<Arc<dyn File>> {
        RealFiles.open_to_write(path)
    }
    fn open_max(&self) -> usize {
        self.open_max
    }
    fn scratch(&self, dir: &Path) -> io::Result<Arc<dyn File>> {
        RealFiles.scratch(dir)
    }
    fn meta(&self, path: &Path) -> io::Result<Meta> {
        RealFiles.meta(path)
    }
    fn list(&self, dir: &Path) -> io::Result<Vec<PathBuf>> {
        RealFiles.list(dir)
    }
    fn create_dir(&self, path: &Path) -> io::Result<()> {
        RealFiles.create_dir(path)
    }
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        RealFiles.rename(from, to)
    }
    fn exchange(&self, a: &Path, b: &Path) -> io::Result<()> {
        RealFiles.exchange(a, b)
    }
    fn remove_file(&self, path: &Path) -> io::Result<()> {
        RealFiles.remove_file(path)
    }
    fn remove_dir(&self, path: &Path) -> io::Result<()> {
        RealFiles.remove_dir(path)
    }
    fn remove_dir_all(&self, path: &Path) -> io::Result<()> {
        RealFiles.remove_dir_all(path)
    }
    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        RealFiles.sync_dir(path)
    }
    fn free_bytes(&self, path: &Path) -> io::Result<u64> {
        RealFiles.free_bytes(path)
    }
}
