//! The machine and this process as the kernel describes them, passed in: texts of /proc and /sys, names that nobody
//! else has.

use std::path::{Path, PathBuf};

use yunti_base::process::{self, ProcessName};

/// Facts of the kernel.
pub trait System: Send + Sync {
    /// Returns a text of the kernel, such as `/proc/meminfo`; None if there is none.
    fn read(&self, path: &Path) -> Option<String>;
    /// Returns true for a directory of the kernel's file systems.
    fn is_dir(&self, path: &Path) -> bool;
    /// Returns the name of this process.
    fn process(&self) -> ProcessName;
    /// Returns 16 hexadecimal digits that no other call returns, in any process.
    fn unique_token(&self) -> String;
}

/// The running kernel.
pub struct RealSystem {
    root: PathBuf,
}

impl Default for RealSystem {
    fn default() -> RealSystem {
        RealSystem::below(Path::new("/"))
    }
}

impl RealSystem {
    /// Returns a kernel whose `proc` and `sys` are below `root`.
    pub fn below(root: &Path) -> RealSystem {
        RealSystem { root: root.into() }
    }

    fn place(&self, path: &Path) -> PathBuf {
        self.root.join(path.strip_prefix("/").unwrap_or(path))
    }
}

impl System for RealSystem {
    fn read(&self, path: &Path) -> Option<String> {
        std::fs::read_to_string(self.place(path)).ok()
    }
    fn is_dir(&self, path: &Path) -> bool {
        self.place(path).is_dir()
    }
    fn process(&self) -> ProcessName {
        ProcessName::own()
    }
    fn unique_token(&self) -> String {
        process::unique_token()
    }
}
