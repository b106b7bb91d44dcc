//! Crash reports from the kernel's log and from hs_err files: oopses, OOM kills, hung tasks, file system errors, fatal
//! JVM errors.
//!
//! ```text
//!   record.rs      a record of the kernel's log     kernel.rs      reports from its lines
//!   stack.rs       names of frames, signatures      fatal_error.rs reports from hs_err files
//!   syslog.rs      a report as a message            file_system.rs reports from lines of file systems
//! ```
//! A report holds only the fields listed in docs/formats/crash-reports.md: function names, and what distinguishes one
//! cause from another. It holds no registers, memory, command lines or environment. No input makes the crate panic,
//! and a message never exceeds the requested length. The crate opens no file and no connection (`machine/src/crash/`
//! does), so fuzz/fuzz_targets/crash can test it with any bytes.

#![forbid(unsafe_code)]

pub mod fatal_error;
mod file_system;
pub mod kernel;
pub mod record;
mod stack;
pub mod syslog;

use std::time::SystemTime;

/// Kind of a crash.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    Oops,
    OomKill,
    HungTask,
    FileSystem,
    JvmFatal,
}

impl Kind {
    /// All kinds.
    pub const ALL: [Kind; 5] = [Kind::Oops, Kind::OomKill, Kind::HungTask, Kind::FileSystem, Kind::JvmFatal];

    /// Returns the name in messages and options.
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

/// Report of one crash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// Subject of a crash.
    pub kind: Kind,
    /// Group of similar crashes: `null pointer in nvme`, `waits for the journal of ext4`, `SIGSEGV in libfoo.so`.
    pub class: String,
    /// Summary in one line.
    pub title: String,
    /// Time of the crash.
    pub time: SystemTime,
    /// Further fields: `process`, `pid`, `device`, `cgroup`, ..; docs/formats/crash-reports.md lists the names.
    pub facts: Vec<(&'static str, String)>,
    /// Names of frames, innermost first.
    pub stack: Vec<String>,
    /// Hash of kind, class and stack: equal for crashes with the same cause.
    pub signature: u64,
}

impl Report {
    /// Returns a report. `distinguishing`: further texts in the signature, for reports without a stack.
    pub fn new(
        kind: Kind,
        class: String,
        title: String,
        time: SystemTime,
        stack: Vec<String>,
        distinguishing: &[&str],
    ) -> Report {
        let (class, title) = (stack::one_line(&class), stack::one_line(&title));
        let signature = stack::signature(
            [kind.name(), &class].into_iter().chain(distinguishing.iter().copied()),
            stack.iter().map(String::as_str),
        );
        Report { kind, class, title, time, facts: Vec::new(), stack, signature }
    }

    /// Adds a field, unless its value is empty.
    pub fn fact(mut self, name: &'static str, value: impl Into<String>) -> Report {
        let value = stack::clean(&value.into());
        if !value.is_empty() {
            self.facts.push((name, value));
        }
        self
    }
}
