//! Parts of Yunti that are programs of their own: `libexec/yunti-X` beside the directory of `yunti`.
//!
//! They have needs that the core does without: a JVM, programs in the kernel. A part that is not installed is named with the command
//! that brings it.

use std::path::PathBuf;

use yunti_base::{Code, Error, Result};

/// A part of Yunti.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// The `X` of `yunti X`.
    pub name: &'static str,
    /// One line for `yunti --help`.
    pub about: &'static str,
    /// The target of `make` that builds it.
    pub make: &'static str,
}

/// All parts, in the order of `yunti --help`.
pub const PARTS: [Part; 4] = [
    Part { name: "hadoop", about: "Run Java jobs with native tasks, here or on a cluster", make: "hadoop" },
    Part { name: "observe", about: "Find out why a process is slow, from Java method to kernel", make: "observe" },
    Part { name: "machine", about: "Check, measure and tune the machine under a process", make: "observe" },
    Part { name: "nn", about: "Load, measure and advise an HDFS NameNode", make: "namenode" },
];

impl Part {
    /// Returns the part of this name.
    pub fn named(name: &str) -> Option<Part> {
        PARTS.into_iter().find(|part| part.name == name)
    }

    /// Returns its program if it is installed.
    pub fn program(self) -> Option<PathBuf> {
        program(self.name)
    }

    /// Returns its program, or an error of code `Usage` that says how to install it.
    pub fn installed(self) -> Result<PathBuf> {
        self.program().ok_or_else(|| {
            Error::new(Code::Usage, format!("'yunti {}' is not installed", self.name)).hint(self.how_to_install())
        })
    }

    /// What to do to have it.
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

/// `../libexec` beside the directory of this program.
fn libexec() -> Option<PathBuf> {
    let program = std::env::current_exe().ok()?;
    Some(program.parent()?.parent()?.join("libexec"))
}
