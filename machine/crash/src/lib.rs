//! Reports of what has crashed: oopses, OOM kills, hung tasks, errors of file systems, fatal errors of JVMs; out of what the kernel's log and hs_err files say.
//!
//! ```text
//!   record.rs      a record of the kernel's log     kernel.rs      its lines, to reports
//!   stack.rs       names of frames, signatures      fatal_error.rs hs_err files, to reports
//!   syslog.rs      a report as a message            file_system.rs lines of file systems, to reports
//! ```
//! A report has only what is listed in docs/formats/crash-reports.md: names of functions and what is needed to tell one cause from another. No registers,
//! no memory, no command lines, no environment. Whatever comes, nothing here panics, and a message is never longer than asked for; a crate of its own, so
//! that this can be shown with any bytes (fuzz/fuzz_targets/crash). Nothing here opens a file or a connection: `machine/src/crash/` does.

#![forbid(unsafe_code)]

pub mod fatal_error;
mod file_system;
pub mod kernel;
pub mod record;
mod stack;
pub mod syslog;

use std::time::SystemTime;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    Oops,
    OomKill,
    HungTask,
    FileSystem,
    JvmFatal,
}

impl Kind {
    pub const ALL: [Kind; 5] = [Kind::Oops, Kind::OomKill, Kind::HungTask, Kind::FileSystem, Kind::JvmFatal];

    pub fn name(self) -> &'static str {
        match self {
            Kind::Oops => "oops",
            Kind::OomKill => "oom-kill",
            Kind::HungTask => "hung-task",
            Kind::FileSystem => "file-system-error",
            Kind::JvmFatal => "jvm-fatal-error",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    pub kind: Kind,
    /// What it belongs to: `null pointer in nvme`, `waits for the journal of ext4`, `SIGSEGV in libfoo.so`.
    pub class: String,
    /// One line for people.
    pub title: String,
    pub time: SystemTime,
    /// What else is known: `process`, `pid`, `device`, `cgroup`, ..; the names are those of docs/formats/crash-reports.md.
    pub facts: Vec<(&'static str, String)>,
    /// Names, the innermost first.
    pub stack: Vec<String>,
    /// The same for what has the same cause, as far as kind, class and stack tell.
    pub signature: u64,
}

impl Report {
    /// @param told_apart what else makes it another, where no stack does
    pub fn new(
        kind: Kind,
        class: String,
        title: String,
        time: SystemTime,
        stack: Vec<String>,
        told_apart: &[&str],
    ) -> Report {
        let (class, title) = (stack::one_line(&class), stack::one_line(&title));
        let signature = stack::signature(
            [kind.name(), &class].into_iter().chain(told_apart.iter().copied()),
            stack.iter().map(String::as_str),
        );
        Report { kind, class, title, time, facts: Vec::new(), stack, signature }
    }

    pub fn fact(mut self, name: &'static str, value: impl Into<String>) -> Report {
        let value = stack::clean(&value.into());
        if !value.is_empty() {
            self.facts.push((name, value));
        }
        self
    }
}
