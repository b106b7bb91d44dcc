//! Files in directories by keys, below an output directory (`write/directories.rs`).

use std::ffi::OsStr;
use std::io::ErrorKind::{AlreadyExists, NotFound};
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path};
use std::sync::atomic::{AtomicU64, Ordering};

use super::super::commit::OutputDirectory;
use crate::write::PartFile;
use crate::write::directories::DirectoryFiles;
use yunti_base::{Code, Error, Result};

/// Directories of an output. None is remembered: there may be more of them than fit in memory.
pub struct KeyDirectories {
    output: OutputDirectory,
    /// Name of the file in each directory.
    name: String,
    durable: bool,
    bytes: AtomicU64,
}

impl KeyDirectories {
    /// Makes the files of an output, which have this name in their directories.
    pub fn new(output: OutputDirectory, name: String, durable: bool) -> KeyDirectories {
        KeyDirectories { output, name, durable, bytes: AtomicU64::new(0) }
    }

    /// Makes a directory and those above it, as far as they are missing.
    fn make(&self, directory: &Path) -> Result<()> {
        let failed = |e: std::io::Error| {
            Error::io(Code::Output, "cannot make the directory", &e).at_path(directory.to_string_lossy())
        };
        let above = directory.parent().filter(|above| !above.as_os_str().is_empty());
        let mut made = self.output.create_dir(directory);
        if let (Err(e), Some(above)) = (&made, above)
            && e.kind() == NotFound
        {
            self.make(above)?;
            made = self.output.create_dir(directory);
        }
        match made {
            Err(e) if e.kind() == AlreadyExists => Ok(()),
            Err(e) => Err(failed(e)),
            // The commit syncs the names in the output itself.
            Ok(()) if self.durable => above.map_or(Ok(()), |above| self.output.sync_dir(above)).map_err(failed),
            Ok(()) => Ok(()),
        }
    }
}

impl DirectoryFiles for KeyDirectories {
    fn create(&self, key: &[u8]) -> Result<PartFile> {
        let directory = Path::new(OsStr::from_bytes(key));
        let is_below = directory.components().all(|part| matches!(part, Component::Normal(_)));
        if key.is_empty() || key.contains(&0) || !is_below {
            let what = format!("the key '{}' is no path of a directory below the output", key.escape_ascii());
            return Err(Error::new(Code::UserCode, what));
        }
        self.make(directory)?;
        PartFile::new(self.output.create(directory.join(&self.name))?, false, 0)
    }

    fn close(&self, file: &PartFile) -> Result<()> {
        self.bytes.fetch_add(file.close(self.durable, b"")?, Ordering::Relaxed);
        if let (true, Some(directory)) = (self.durable, Path::new(file.path()).parent()) {
            self.output.sync_dir(directory).map_err(|e| {
                Error::io(Code::Output, "cannot sync the directory", &e).at_path(directory.to_string_lossy())
            })?;
        }
        Ok(())
    }

    fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }
}
