//! Settings as files of proc and sys below a root.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use yunti_settings::{System, Write, value_of};

/// Files below a root.
pub struct Files {
    root: PathBuf,
    /// Reader of the files.
    pub system: System,
    /// Makes write number n and all later ones fail, for tests.
    #[cfg(test)]
    pub fails_from: std::cell::Cell<Option<usize>>,
}

impl Files {
    /// Returns the files below `root`.
    pub fn below(root: &Path) -> Files {
        Files {
            root: root.to_path_buf(),
            system: System::at(root),
            #[cfg(test)]
            fails_from: std::cell::Cell::new(None),
        }
    }

    /// Returns the value of a file in the form in which it is written, or `None` if it cannot be read.
    pub fn value(&self, path: &str) -> Option<String> {
        value_of(&self.system, path)
    }

    /// Writes a value. Fails if the file does not exist.
    pub fn write(&self, write: &Write) -> io::Result<()> {
        #[cfg(test)]
        if let Some(left) = self.fails_from.get() {
            if left == 0 {
                return Err(io::ErrorKind::PermissionDenied.into());
            }
            self.fails_from.set(Some(left - 1));
        }
        // A file of the kernel is never created.
        let mut file = fs::OpenOptions::new().write(true).truncate(true).open(self.root.join(&write.path))?;
        io::Write::write_all(&mut file, write.value.as_bytes())
    }

    /// Returns true if each file holds its value.
    pub fn hold(&self, values: &[Write]) -> bool {
        values.iter().all(|w| self.value(&w.path).as_deref() == Some(&*w.value))
    }

    /// Returns the id of the running kernel's boot; settings below proc and sys last until the next boot.
    pub fn boot(&self) -> String {
        self.system.text("proc/sys/kernel/random/boot_id").unwrap_or_default()
    }
}
