//! Settings as files of proc and sys below a root.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use yunti_settings::{System, Write, value_of};

pub struct Files {
    root: PathBuf,
    pub system: System,
    /// Lets the n-th write and those after it fail, for tests.
    #[cfg(test)]
    pub fails_from: std::cell::Cell<Option<usize>>,
}

impl Files {
    pub fn below(root: &Path) -> Files {
        Files {
            root: root.to_path_buf(),
            system: System::at(root),
            #[cfg(test)]
            fails_from: std::cell::Cell::new(None),
        }
    }

    /// None: it cannot be read any more.
    pub fn value(&self, path: &str) -> Option<String> {
        value_of(&self.system, path)
    }

    pub fn write(&self, write: &Write) -> io::Result<()> {
        #[cfg(test)]
        if let Some(left) = self.fails_from.get() {
            if left == 0 {
                return Err(io::ErrorKind::PermissionDenied.into());
            }
            self.fails_from.set(Some(left - 1));
        }
        // A file of the kernel is there, or it is none.
        let mut file = fs::OpenOptions::new().write(true).truncate(true).open(self.root.join(&write.path))?;
        io::Write::write_all(&mut file, write.value.as_bytes())
    }

    /// Whether each file holds what it says.
    pub fn hold(&self, values: &[Write]) -> bool {
        values.iter().all(|w| self.value(&w.path).as_deref() == Some(&*w.value))
    }

    /// Which kernel it is that runs: what is written below proc and sys ends with it.
    pub fn boot(&self) -> String {
        self.system.text("proc/sys/kernel/random/boot_id").unwrap_or_default()
    }
}
