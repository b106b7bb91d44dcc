//! Gain of old settings of file systems, page cache and TCP, on kernels of about 2010 and on this kernel. One file a
//! subject.

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

/// Subject of a benchmark.
pub struct Subject {
    /// Name on the command line.
    pub name: &'static str,
    /// Description in one line.
    pub what: &'static str,
    /// True if it needs mounts, loop devices or namespaces.
    pub needs_root: bool,
    /// Programs that it needs.
    pub tools: &'static [&'static str],
    /// Figures that were published at the time.
    pub published: &'static [Published],
    /// Function that measures it.
    pub measure: fn(&Bench) -> Result<Measurement>,
}

/// Published figure and its source.
pub struct Published {
    /// Figure, in words.
    pub figure: &'static str,
    /// Publication.
    pub source: &'static str,
    /// Its ratio, if a metric here measures the same.
    pub ratio: Option<PublishedRatio>,
}

/// Ratio of a published figure, to hold beside the measured one.
pub struct PublishedRatio {
    /// Metric that measures the same.
    pub metric: &'static str,
    /// New way of the comparison, if several have this metric; else empty.
    pub new: &'static str,
    /// New divided by old, in the direction of the metric: a rate is the inverse of a time.
    pub value: f64,
}

impl PublishedRatio {
    /// Returns the comparison that measures the same.
    pub fn comparison<'a>(&self, all: &'a [Comparison]) -> Option<&'a Comparison> {
        all.iter().find(|c| c.metric == self.metric && (self.new.is_empty() || c.new == self.new))
    }
}

/// Source of figures of one machine of 2012; docs/decisions/machine-bench.md has its table.
pub const OF_2012: &str = "kernel 2.6.32 on disks of 2012";

/// Result of a subject.
#[derive(Default)]
pub struct Measurement {
    /// Comparisons, in their order.
    pub comparisons: Vec<Comparison>,
    /// Remarks about the figures.
    pub notes: Vec<String>,
}

/// Environment of a subject's measurement.
pub struct Bench<'a> {
    /// Folder for images and files.
    pub scratch: &'a Scratch,
    /// Rounds of each comparison.
    pub rounds: usize,
    /// True for a short run that tests the subject only.
    pub quick: bool,
    /// Size of the sparse image.
    pub image_bytes: u64,
    /// Set when the user cancels.
    pub cancel: &'a Cancel,
    /// Start of the subject.
    pub begun: Instant,
    /// Time limit of the subject.
    pub time_max: Duration,
}

impl Bench<'_> {
    /// Fails with `Cancelled` after the user has cancelled.
    pub fn check_cancelled(&self) -> Result<()> {
        if self.cancel.is_set() { Err(Error::new(Code::Cancelled, "cancelled")) } else { Ok(()) }
    }

    /// Returns true if another round would exceed the time limit. Up to `rounds_min` rounds, the limit is twice as
    /// long.
    pub fn is_late(&self, comparison_begun: Instant, rounds_done: usize, rounds_min: usize) -> bool {
        let next = comparison_begun.elapsed() / rounds_done.max(1) as u32;
        let time_max = if rounds_done < rounds_min { self.time_max * 2 } else { self.time_max };
        self.begun.elapsed() + next > time_max
    }

    /// Returns the value for a full or for a quick run.
    pub fn pick<T>(&self, full: T, quick: T) -> T {
        if self.quick { quick } else { full }
    }
}

/// All subjects, in their order.
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
    /// Returns the reason why the subject cannot be measured here, if there is one.
    pub fn missing(&self) -> Option<String> {
        if self.needs_root && !rustix::process::geteuid().is_root() {
            return Some("needs root for mounts, loop devices or a network namespace".to_owned());
        }
        self.tools.iter().find_map(|program| tool::missing(program))
    }
}

/// Bytes.
const MIB: u64 = 1 << 20;

fn seconds(what: impl FnOnce() -> Result<()>) -> Result<f64> {
    let begun = Instant::now();
    what()?;
    Ok(begun.elapsed().as_secs_f64().max(1e-9))
}

fn failed(error: std::io::Error) -> Error {
    Error::io(Code::Output, "the measurement failed", &error)
}
