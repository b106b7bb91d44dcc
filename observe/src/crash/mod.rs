//! Reports of what has crashed: oopses, OOM kills, hung tasks, errors of file systems, fatal errors of JVMs; and the way that they go to who collects them.
//!
//! ```text
//!   kernel_log.rs  /dev/kmsg, record by record          kernel.rs      its lines, to reports
//!   jvms.rs        folders where JVMs leave theirs      fatal_error.rs hs_err files, to reports
//!   stack.rs       names of frames; what reports have in common, as a signature
//!   repeats.rs     the same again is counted            queue.rs       what waits to be sent, and how fast it may
//!   syslog.rs      a report as a message                collector.rs   where it goes, over UDP or TLS
//!   delivery.rs    the thread that brings them
//!   unacknowledged.rs  bytes that the other side has not confirmed
//! ```
//! A report has only what is listed in docs/formats/crash-reports.md: names of functions and what is needed to tell one cause from another. No registers,
//! no memory, no command lines, no environment.

pub mod collector;
pub mod delivery;
pub mod fatal_error;
pub mod jvms;
pub mod kernel;
pub mod kernel_log;
pub mod queue;
pub mod repeats;
mod stack;
pub mod syslog;
mod unacknowledged;

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
        let signature = stack::signature(
            [kind.name(), &class].into_iter().chain(told_apart.iter().copied()),
            stack.iter().map(String::as_str),
        );
        Report { kind, class, title, time, facts: Vec::new(), stack, signature }
    }

    pub fn fact(mut self, name: &'static str, value: impl Into<String>) -> Report {
        let value = value.into();
        if !value.is_empty() {
            self.facts.push((name, value));
        }
        self
    }
}
