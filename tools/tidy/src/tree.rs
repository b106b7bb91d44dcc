//! The checkout as a value: every file by its path from the root, with its text.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

pub const ENGINE: &str = "engine/src/";
pub const NATIVE: &str = "hadoop/native/src/";
/// Folders whose name a path in ARCHITECTURE.md may leave out.
const SOURCES: [&str; 3] = [ENGINE, NATIVE, "hadoop/plugin/src/main/java/org/yunti/hadoop/"];

/// Files by their path from the root; no text if it is not UTF-8. Folders end in `/` and have none.
#[derive(Default)]
pub struct Tree(pub BTreeMap<String, Option<String>>);

/// Reads a checkout. Build outputs are left out.
pub fn checkout(root: &Path) -> Tree {
    let mut tree = Tree::default();
    load(root, "", &mut tree);
    tree
}

fn load(dir: &Path, prefix: &str, tree: &mut Tree) {
    for entry in fs::read_dir(dir).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        let path = format!("{prefix}{name}");
        if entry.file_type().unwrap().is_dir() {
            // What .gitignore names, and what programs have written; `probe/src/target/` is source.
            let built = [".git", "build", "dist", "__pycache__", ".venv", "corpus", "artifacts"];
            let is_built = built.contains(&&*name) || name == "target" && matches!(prefix, "" | "fuzz/");
            if !is_built {
                tree.0.insert(format!("{path}/"), None);
                load(&entry.path(), &format!("{path}/"), tree);
            }
        // In a worktree .git is a file.
        } else if name != "cluster.env" && name != ".git" {
            let bytes = fs::read(entry.path()).unwrap_or_default();
            tree.0.insert(path, String::from_utf8(bytes).ok());
        }
    }
}

impl Tree {
    pub fn texts(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().filter_map(|(path, text)| Some((&**path, text.as_deref()?)))
    }

    pub fn rust(&self) -> impl Iterator<Item = (&str, &str)> {
        self.texts().filter(|(path, _)| path.ends_with(".rs"))
    }

    pub fn architecture(&self) -> &str {
        self.0.get("ARCHITECTURE.md").and_then(|t| t.as_deref()).unwrap_or_default()
    }

    /// Returns true for a file or a folder, named from the root or from one of the sources.
    pub fn has(&self, path: &str) -> bool {
        let path = path.trim_end_matches('/');
        [""].iter()
            .chain(&SOURCES)
            .any(|at| self.0.contains_key(&format!("{at}{path}")) || self.0.contains_key(&format!("{at}{path}/")))
    }
}

pub fn is_source(path: &str) -> bool {
    [".rs", ".h", ".hpp", ".c", ".cpp", ".py", ".sh", ".java"].iter().any(|end| path.ends_with(end))
}

/// Small trees, on which rules are tried.
#[cfg(test)]
pub mod small {
    use super::Tree;

    pub const FLOORS: &str = "```floors engine/src\n 9 job\n 7 read map\n 3 operator\n 0 bytes\n beside abi\n```\n";

    pub fn tree(files: &[(&str, &str)]) -> Tree {
        let mut tree = Tree::default();
        for (path, text) in files {
            for (at, _) in path.match_indices('/') {
                tree.0.insert(path[..=at].to_string(), None);
            }
            tree.0.insert(path.to_string(), Some(text.to_string()));
        }
        tree
    }

    /// An engine with a file on each floor, and `more`.
    pub fn house(more: &[(&str, &str)]) -> Tree {
        let mut files = vec![("ARCHITECTURE.md", FLOORS), ("engine/src/lib.rs", "//! The engine.\npub mod bytes;\n")];
        for path in ["job", "read", "map", "operator", "bytes", "abi"] {
            let path: &'static str = Box::leak(format!("engine/src/{path}/mod.rs").into_boxed_str());
            files.push((path, "//! A floor.\n"));
        }
        files.extend(more);
        tree(&files)
    }

    /// Fails unless the rule finds these words in a house with `files`.
    #[track_caller]
    pub fn finds(rule: crate::Rule, files: &[(&str, &str)], words: &str) {
        let found = rule(&house(files));
        assert!(found.iter().any(|complaint| complaint.contains(words)), "{words}: {found:?}");
    }
}
