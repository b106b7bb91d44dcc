//! Parts of Yunti that are separate programs: `libexec/yunti-X` beside the directory of `yunti`.
//!
//! Parts have requirements that the core does not have: a JVM, or programs in the kernel. The error for a missing part
//! names the command that installs it.

use std::path::PathBuf;

use yunti_base::{Code, Error, Result};

/// A part of Yunti.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// Name of the command: the `X` of `yunti X`.
    pub name: &'static str,
    /// One line for `yunti --help`.
    pub about: &'static str,
    /// Target of `make` that builds the part.
    pub make: &'static str,
}

/// All parts, in the order of `yunti --help`.
pub const PARTS: [Part; 9] = [
    Part { name: "hadoop", about: "Run Java jobs with native tasks, here or on a cluster", make: "hadoop" },
    Part { name: "observe", about: "Find out why a process is slow, from Java method to kernel", make: "observe" },
    Part { name: "machine", about: "Check, measure and tune the machine under a process", make: "observe" },
    Part { name: "warmup", about: "Start a JVM service warm: archived classes, replayed requests", make: "warmup" },
    Part { name: "capacity", about: "Find out what a service can carry and what bounds it", make: "capacity" },
    Part { name: "watch", about: "Compare a service by day and release: what costs more", make: "capacity" },
    Part { name: "sql", about: "Query files with SQL: Parquet, CSV, JSON, in directories and stores", make: "sql" },
    Part { name: "table", about: "Build and read shared tables: one copy for all processes", make: "table" },
    Part { name: "nn", about: "Load, measure and advise an HDFS NameNode", make: "namenode" },
];

impl Part {
    /// Returns the part of this name.
    pub fn named(name: &str) -> Option<Part> {
        PARTS.into_iter().find(|part| part.name == name)
    }

    /// Returns the path of its program if the program is installed.
    pub fn program(self) -> Option<PathBuf> {
        program(self.name)
    }

    /// Returns the path of its program, or an error of code [`Code::Usage`] with the command that installs it.
    pub fn installed(self) -> Result<PathBuf> {
        self.program().ok_or_else(|| {
            Error::new(Code::Usage, format!("'yunti {}' is not installed", self.name)).hint(self.how_to_install())
        })
    }

    /// Returns the instruction that installs the part.
    pub fn how_to_install(self) -> String {
        let dir = libexec().unwrap_or_default();
        format!("run 'make {}' in the sources, or install yunti-{} into {}", self.make, self.name, dir.display())
    }
}

/// Returns `libexec/yunti-NAME` if it is there. A name that leads out of libexec has no program.
pub fn program(name: &str) -> Option<PathBuf> {
    let is_name = !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_');
    let path = libexec()?.join(format!("yunti-{name}"));
    (is_name && path.is_file()).then_some(path)
}

/// Returns the directory `../libexec`, relative to the directory of this program.
fn libexec() -> Option<PathBuf> {
    let program = std::env::current_exe().ok()?;
    Some(program.parent()?.parent()?.join("libexec"))
}
