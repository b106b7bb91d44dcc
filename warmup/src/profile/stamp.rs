//! Stamps of a training run: the JVM, the class path and the options for which an archive is valid.
//!
//! The JVM compares the same facts and goes on without the archive if one differs. `apply` compares them first, so that
//! it can say which one in one line.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::java::command_line::CommandLine;
use crate::java::jar::Manifest;
use crate::java::release::Release;

/// File by its size and its time, as the JVM compares them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileStamp {
    pub bytes: u64,
    pub modified_unix_s: i64,
}

/// Entry of a class path. An entry that is absent has no stamp.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    pub path: PathBuf,
    pub stamp: Option<FileStamp>,
}

/// Facts for which an archive is valid.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stamps {
    pub java_home: PathBuf,
    pub build: String,
    pub jvm: Option<FileStamp>,
    /// Entries of the class path in their order, each jar with the jars that its manifest names behind it.
    pub class_path: Vec<Entry>,
    /// Options of the JVM that must be the same.
    pub options: Vec<String>,
}

impl FileStamp {
    fn of(path: &Path) -> Option<FileStamp> {
        let facts = fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
        Some(FileStamp { bytes: facts.len(), modified_unix_s: facts.mtime() })
    }
}

impl Entry {
    fn of(path: PathBuf) -> Entry {
        Entry { stamp: FileStamp::of(&path), path }
    }
}

impl Stamps {
    /// Returns the stamps of a command line as the files are now.
    pub fn of(line: &CommandLine, release: &Release) -> Stamps {
        let mut class_path: Vec<Entry> = Vec::new();
        let mut add = |path: PathBuf| {
            let is_new = class_path.iter().all(|entry| entry.path != path);
            if is_new {
                class_path.push(Entry::of(path));
            }
            is_new
        };
        // Manifests name jars whose manifests may name more.
        let mut waiting: Vec<PathBuf> = line.entries().into_iter().rev().collect();
        while let Some(path) = waiting.pop() {
            if add(path.clone()) && path.is_file() {
                let manifest = Manifest::of_jar(&path).unwrap_or_default();
                let folder = path.parent().unwrap_or(Path::new("/"));
                waiting
                    .extend(manifest.class_path.iter().rev().map(|name| folder.join(name.trim_start_matches("file:"))));
            }
        }
        Stamps {
            java_home: release.home.clone(),
            build: release.build.clone(),
            jvm: FileStamp::of(&release.library()),
            class_path,
            options: line.stamped_options(),
        }
    }

    /// Returns the same stamps as the files are now: for a script, whose class path its command line does not show.
    pub fn now(&self) -> Stamps {
        let class_path = self.class_path.iter().map(|entry| Entry::of(entry.path.clone())).collect();
        let jvm = Release::of_program(&self.java_home.join("bin/java"));
        let build = jvm.as_ref().map_or_else(|_| String::new(), |release| release.build.clone());
        let jvm = jvm.ok().and_then(|release| FileStamp::of(&release.library()));
        Stamps { build, jvm, class_path, ..self.clone() }
    }

    /// Returns the first difference from these stamps to present ones, in words; `None` if an archive is valid.
    pub fn difference(&self, now: &Stamps) -> Option<String> {
        if self.build != now.build || self.java_home != now.java_home {
            let other = if now.build.is_empty() { "absent" } else { &now.build };
            return Some(format!(
                "recorded with {} in {}, now {other} in {}",
                self.build,
                self.java_home.display(),
                now.java_home.display()
            ));
        }
        if self.jvm != now.jvm {
            return Some(format!("the JVM has changed: {}", self.java_home.display()));
        }
        for (then, now) in self.class_path.iter().zip(&now.class_path) {
            if !is_same_path(&then.path, &now.path) {
                return Some(format!("the class path has {} in place of {}", now.path.display(), then.path.display()));
            }
            if then.stamp != now.stamp {
                let how = match (&then.stamp, &now.stamp) {
                    (Some(_), None) => "is gone",
                    (None, _) => "is new",
                    (Some(then), Some(now)) if then.bytes == now.bytes => "has another time",
                    _ => "has changed",
                };
                return Some(format!("{} {how}", then.path.display()));
            }
        }
        if self.class_path.len() != now.class_path.len() {
            return Some(format!(
                "the class path has {} entries in place of {}",
                now.class_path.len(),
                self.class_path.len()
            ));
        }
        if self.options != now.options {
            let text = |options: &[String]| if options.is_empty() { "defaults".into() } else { options.join(" ") };
            return Some(format!("recorded with {}, now {}", text(&self.options), text(&now.options)));
        }
        None
    }

    /// Returns the first directory of the class path that is not empty: the JVM then writes no archive.
    pub fn full_directory(&self) -> Option<&Path> {
        let is_full = |path: &&Path| fs::read_dir(path).is_ok_and(|mut files| files.next().is_some());
        self.class_path.iter().map(|entry| entry.path.as_path()).find(is_full)
    }

    /// Returns the first jar whose jars within no archive can hold.
    pub fn nested_jar(&self) -> Option<&Path> {
        let is_nested = |path: &&Path| Manifest::of_jar(path).is_ok_and(|manifest| manifest.is_nested());
        self.class_path.iter().map(|entry| entry.path.as_path()).find(is_nested)
    }
}

/// Returns true if two paths lead to one place: the JVM compares files and not names.
fn is_same_path(one: &Path, other: &Path) -> bool {
    let real = |path: &Path| fs::canonicalize(path).ok();
    one == other || real(one).is_some_and(|place| Some(place) == real(other))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stamps() -> Stamps {
        let file = |bytes| Some(FileStamp { bytes, modified_unix_s: 7 });
        let class_path = [("/a.jar", 1), ("/b.jar", 2)].map(|(path, n)| Entry { path: path.into(), stamp: file(n) });
        Stamps {
            java_home: "/j".into(),
            build: "T 25".into(),
            jvm: file(9),
            class_path: class_path.into(),
            options: vec!["-XX:+UseZGC".into()],
        }
    }

    #[test]
    fn names_the_first_difference() {
        type Change = fn(&mut Stamps);
        let cases: [(Change, &str); 9] = [
            (|s| s.build = "T 26".into(), "recorded with T 25 in /j, now T 26 in /j"),
            (|s| s.jvm = None, "the JVM has changed: /j"),
            (|s| s.class_path[1].stamp = None, "/b.jar is gone"),
            (|s| s.class_path[0].stamp.as_mut().unwrap().bytes = 5, "/a.jar has changed"),
            (|s| s.class_path[0].stamp.as_mut().unwrap().modified_unix_s = 5, "/a.jar has another time"),
            (|s| s.class_path.swap(0, 1), "the class path has /b.jar in place of /a.jar"),
            (|s| s.class_path.truncate(1), "the class path has 1 entries in place of 2"),
            (|s| s.options.clear(), "recorded with -XX:+UseZGC, now defaults"),
            (|s| s.class_path[0].path = "/c.jar".into(), "the class path has /c.jar in place of /a.jar"),
        ];
        for (change, expected) in cases {
            let mut now = stamps();
            change(&mut now);
            assert_eq!(stamps().difference(&now).as_deref(), Some(expected));
        }
        assert_eq!(stamps().difference(&stamps()), None);
    }
}
