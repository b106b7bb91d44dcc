//! Files of proc and sys below a root, as text: the kernel's account of the machine and of this process.
//!
//! A missing or unreadable file (a container, an old kernel) is `None`; every rule goes on without it.

use std::fs;
use std::path::{Path, PathBuf};

/// A root folder with `proc` and `sys` below it.
pub struct System {
    root: PathBuf,
}

impl System {
    /// Returns the system below `root`: `/`, or a folder of a test.
    pub fn at(root: &Path) -> System {
        System { root: root.to_path_buf() }
    }

    /// Returns the root.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the text of `proc/..` or `sys/..`, without the trailing line end.
    pub fn text(&self, path: impl AsRef<Path>) -> Option<String> {
        let bytes = fs::read(self.root.join(path)).ok()?;
        Some(String::from_utf8_lossy(&bytes).trim_end().to_string())
    }

    /// Returns the file's text as a number.
    pub fn number(&self, path: impl AsRef<Path>) -> Option<u64> {
        self.text(path)?.trim().parse().ok()
    }

    /// Returns true if the path exists.
    pub fn has(&self, path: impl AsRef<Path>) -> bool {
        self.root.join(path).exists()
    }

    /// Returns the names in a folder, sorted.
    pub fn names(&self, folder: impl AsRef<Path>) -> Vec<String> {
        let entries = fs::read_dir(self.root.join(folder)).into_iter().flatten().flatten();
        let mut names: Vec<String> = entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
        names.sort();
        names
    }

    /// Returns the value behind `name` and a colon, of the first line that begins so.
    pub fn field(&self, path: impl AsRef<Path>, name: &str) -> Option<String> {
        let text = self.text(path)?;
        let found = text.lines().find_map(|line| line.strip_prefix(name)?.trim_start().strip_prefix(':'));
        found.map(|value| value.trim().to_string())
    }

    /// Returns a field of `proc/meminfo` in bytes.
    pub fn memory_bytes(&self, name: &str) -> Option<u64> {
        let kib: u64 = self.field("proc/meminfo", name)?.split_whitespace().next()?.parse().ok()?;
        kib.checked_mul(1024)
    }

    /// Returns the word in brackets: `madvise` of `always [madvise] never`.
    pub fn chosen(&self, path: &str) -> Option<String> {
        let text = self.text(path)?;
        let (_, rest) = text.split_once('[')?;
        Some(rest.split_once(']')?.0.to_string())
    }
}

#[cfg(test)]
mod tests {
    use crate::tree::Tree;

    #[test]
    fn reads_numbers_fields_and_choices() {
        let tree =
            Tree::of(&[("proc/meminfo", "MemTotal:  2 kB\nBad: x kB\n"), ("sys/a", "x [y] z\n"), ("sys/n", "12\n")]);
        let system = tree.system();
        assert_eq!(system.memory_bytes("MemTotal"), Some(2048));
        assert_eq!((system.memory_bytes("Mem"), system.memory_bytes("Bad")), (None, None));
        assert_eq!((system.chosen("sys/a").as_deref(), system.chosen("sys/n")), (Some("y"), None));
        assert_eq!((system.number("sys/n"), system.number("sys/a"), system.number("sys/none")), (Some(12), None, None));
        assert_eq!((system.names("sys"), system.names("none").len()), (vec!["a".to_owned(), "n".to_owned()], 0));
    }
}
