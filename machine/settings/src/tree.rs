//! A machine made of files, for tests of those who read proc and sys below a root.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use crate::System;

/// A root of a test's own, gone with it.
pub struct Tree(PathBuf);

impl Tree {
    /// Panics where it cannot be made, as tests do.
    pub fn of(files: &[(&str, &str)]) -> Tree {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let name = format!("yunti-tree-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let tree = Tree(std::env::temp_dir().join(name));
        fs::create_dir(&tree.0).expect("a folder for a test");
        files.iter().for_each(|(path, text)| tree.write(path, text));
        tree
    }

    pub fn write(&self, path: &str, text: &str) {
        let path = self.0.join(path);
        fs::create_dir_all(path.parent().unwrap_or(&self.0)).expect("a folder for a test");
        fs::write(path, text).expect("a file for a test");
    }

    pub fn root(&self) -> &Path {
        &self.0
    }

    pub fn system(&self) -> System {
        System::at(&self.0)
    }
}

impl Drop for Tree {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
