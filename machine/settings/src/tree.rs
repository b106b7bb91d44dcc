//! Folder with small files of proc and sys, for tests of code that reads them below a root.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use crate::System;

/// Temporary root folder, removed when dropped.
pub struct Tree(PathBuf);

impl Tree {
    /// Creates the files, given as path and text. Panics on errors, as tests do.
    pub fn of(files: &[(&str, &str)]) -> Tree {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let name = format!("yunti-tree-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let tree = Tree(std::env::temp_dir().join(name));
        fs::create_dir(&tree.0).expect("a folder for a test");
        files.iter().for_each(|(path, text)| tree.write(path, text));
        tree
    }

    /// Writes one file and the folders above it.
    pub fn write(&self, path: &str, text: &str) {
        let path = self.0.join(path);
        fs::create_dir_all(path.parent().unwrap_or(&self.0)).expect("a folder for a test");
        fs::write(path, text).expect("a file for a test");
    }

    /// Returns the root.
    pub fn root(&self) -> &Path {
        &self.0
    }

    /// Returns the system below the root.
    pub fn system(&self) -> System {
        System::at(&self.0)
    }
}

impl Drop for Tree {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
