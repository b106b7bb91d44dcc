//! What settings of file systems, page cache and TCP were worth on kernels of about 2010, and what they are worth on this one. A file a subject.

mod bigalloc;
pub mod churn;
pub mod comparison;
mod files;
mod inline_data;
mod io_uring;
mod journal;
mod mapped_file;
mod mapped_writes;
mod overlay;
mod read_ahead;
mod ring;
mod time_wait;

use std::time::{Duration, Instant};

use yunti_base::{Cancel, Code, Error, Result};

use crate::scratch::{Scratch, tool};
use comparison::Comparison;

pub struct Subject {
    pub name: &'static str,
    pub what: &'static str,
    pub needs_root: bool,
    pub tools: &'static [&'static str],
    pub published: &'static [Published],
    pub measure: fn(&Bench) -> Result<Measured>,
}

/// A figure of that time, with where it stands.
pub struct Published {
    pub figure: &'static str,
    pub source: &'static str,
}

#[derive(Default)]
pub struct Measured {
    pub comparisons: Vec<Comparison>,
    /// What is to be known beside the figures.
    pub notes: Vec<String>,
}

/// What each subject is given.
pub struct Bench<'a> {
    pub scratch: &'a Scratch,
    pub rounds: usize,
    pub quick: bool,
    pub image_bytes: u64,
    pub cancel: &'a Cancel,
    pub begun: Instant,
    pub time_max: Duration,
}

impl Bench<'_> {
    pub fn go_on(&self) -> Result<()> {
        if self.cancel.is_set() { Err(Error::new(Code::Cancelled, "cancelled")) } else { Ok(()) }
    }

    /// Another round like those that are done would be too long. Of what is timed fewer than `rounds_min` say nothing: these have twice the time.
    pub fn is_late(&self, comparison_begun: Instant, rounds_done: usize, rounds_min: usize) -> bool {
        let next = comparison_begun.elapsed() / rounds_done.max(1) as u32;
        let time_max = if rounds_done < rounds_min { self.time_max * 2 } else { self.time_max };
        self.begun.elapsed() + next > time_max
    }

    pub fn pick<T>(&self, full: T, quick: T) -> T {
        if self.quick { quick } else { full }
    }
}

pub const SUBJECTS: [Subject; 8] = [
    bigalloc::SUBJECT,
    journal::SUBJECT,
    inline_data::SUBJECT,
    overlay::SUBJECT,
    io_uring::SUBJECT,
    mapped_writes::SUBJECT,
    read_ahead::SUBJECT,
    time_wait::SUBJECT,
];

impl Subject {
    /// Why it cannot be measured here.
    pub fn missing(&self) -> Option<String> {
        if self.needs_root && !rustix::process::geteuid().is_root() {
            return Some("it needs root, for mounts, loop devices or a network namespace".to_owned());
        }
        self.tools.iter().find_map(|program| tool::missing(program))
    }
}

/// MiB, for sizes in the code.
const MIB: u64 = 1 << 20;

fn seconds(what: impl FnOnce() -> Result<()>) -> Result<f64> {
    let begun = Instant::now();
    what()?;
    Ok(begun.elapsed().as_secs_f64().max(1e-9))
}

fn failed(error: std::io::Error) -> Error {
    Error::io(Code::Output, "the measurement failed", &error)
}
