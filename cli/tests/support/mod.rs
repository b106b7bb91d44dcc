//! Support for tests of the command: a temporary directory, and functions that run the command in it.

#![allow(dead_code)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

pub use yunti_table::builder::Duplicates;
use yunti_table::builder::text::{self, Format, Request, Wanted};
use yunti_table::builder::{Settings, write};

pub mod servers;

pub struct Dir(PathBuf);

impl Dir {
    pub fn new() -> Dir {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let name = format!("yunti-cli-test-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let path = std::env::temp_dir().join(name);
        fs::create_dir(&path).unwrap();
        Dir(path)
    }

    /// Makes a directory `books` with two small books, and a file that readers skip.
    pub fn with_books() -> Dir {
        let dir = Dir::new();
        fs::create_dir(dir.path("books")).unwrap();
        dir.write("books/one.txt", b"the cat and the dog\nthe end\n");
        dir.write("books/two.txt", b"the\tbird \xff\xfe\r\nno end");
        dir.write("books/_skipped", b"skipped skipped");
        dir
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    pub fn write(&self, name: &str, bytes: &[u8]) {
        fs::write(self.path(name), bytes).unwrap();
    }

    pub fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
    }

    /// Returns all names below the directory, sorted.
    pub fn names(&self) -> Vec<String> {
        fn walk(dir: &Path, root: &Path, out: &mut Vec<String>) {
            for entry in fs::read_dir(dir).unwrap() {
                let path = entry.unwrap().path();
                out.push(path.strip_prefix(root).unwrap().to_string_lossy().into_owned());
                if path.is_dir() {
                    walk(&path, root, out);
                }
            }
        }
        let mut out = Vec::new();
        walk(&self.0, &self.0, &mut out);
        out.sort();
        out
    }

    /// Returns `yunti` with these words as arguments, in this directory.
    pub fn command(&self, words: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_yunti"));
        command.args(words.split_whitespace()).current_dir(&self.0).stdin(Stdio::null());
        command.env_remove("RUST_BACKTRACE").env("XDG_CACHE_HOME", self.0.join("cache"));
        command
    }

    pub fn run(&self, words: &str) -> Output {
        self.command(words).output().unwrap()
    }

    /// Runs the command, which must succeed; returns its standard output.
    pub fn ok(&self, words: &str) -> String {
        let output = self.run(words);
        assert!(output.status.success(), "yunti {words}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    pub fn json(&self, words: &str) -> serde_json::Value {
        let text = self.ok(words);
        serde_json::from_str(&text).unwrap_or_else(|e| panic!("yunti {words}: {e}: {text}"))
    }

    /// Runs the command, which must fail with `code`, with one line that contains `what`, and without leaving files.
    pub fn fails(&self, words: &str, code: i32, what: &str) {
        let before = self.names();
        let output = self.run(words);
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(code), "yunti {words}: {output:?}");
        assert!(
            stderr.starts_with("yunti: ") && stderr.ends_with('\n') && stderr.lines().count() == 1,
            "yunti {words}: {stderr:?}"
        );
        assert!(stderr.contains(what), "yunti {words}: {stderr}");
        assert_eq!(self.names(), before, "yunti {words} left something behind");
    }
}

/// Builds a table `out` of a CSV file in the directory, as `yunti table build` does. `columns`: empty for all.
pub fn build_table(dir: &Dir, csv: &str, key: &str, columns: &str, out: &str, duplicates: Duplicates) {
    let settings = Settings { duplicates, ..Settings::default() };
    let request = Request {
        format: Format::Csv { delimiter: b',' },
        keys: Wanted::parse(key).unwrap(),
        columns: if columns.is_empty() { Vec::new() } else { Wanted::parse(columns).unwrap() },
        settings: settings.clone(),
    };
    let path = dir.path(out);
    let rows = text::read(fs::File::open(dir.path(csv)).unwrap(), csv, &request, &path).unwrap();
    write(&path, rows, &settings).unwrap();
}

impl Drop for Dir {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Builds a library of tests/class_libraries in the directory; returns false and prints a note without a compiler.
pub fn build(dir: &Dir, source: &str, library: &str, flags: &[&str]) -> bool {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let (compiler, standard) = if source.ends_with(".c") { ("cc", "-std=c11") } else { ("c++", "-std=c++17") };
    let status = Command::new(compiler)
        .args([standard, "-O1", "-w", "-shared", "-fPIC", "-I"])
        .arg(root.join("api/include"))
        .args(flags)
        .arg("-o")
        .arg(dir.path(library))
        .arg(root.join("tests/class_libraries").join(source))
        .status();
    match status {
        Ok(status) => assert!(status.success(), "{compiler} {source} {flags:?}"),
        Err(e) => {
            eprintln!("SKIPPED: {source} is not built: {compiler}: {e}");
            return false;
        }
    }
    true
}
