//! Answer of a command in the parts that all answers have: one line, tables, stacks, a graph. It is printed as text or
//! written as a page; each command adds its own JSON.

mod heatmap;
mod outline;
mod page;
mod text;
mod timeline;
mod treemap;

use std::time::Duration;

use serde_json::{Value, json};
use yunti_base::whole_file;
use yunti_base::{Code, Result};
use yunti_program::failure::{Failure, Outcome};
use yunti_program::terminal::stdout;

pub use heatmap::{HeatRow, Heatmap};
pub use outline::{Line, Outline};
pub use text::table as on_terminal;
pub use timeline::{Series, Shape, Timeline};
pub use treemap::{Part, Treemap};

use crate::options::AnswerFlags;
use crate::stack::{Frame, Tree};
use crate::stopping::{End, Watched};
use crate::target::{Process, label};

/// Answer of a command.
#[derive(Default)]
pub struct Answer {
    /// Name of the command: `flame`, `ext4 io`.
    pub command: &'static str,
    /// Target of the measurement.
    pub subject: Subject,
    /// Main result in one line, without the subject.
    pub lead: String,
    /// Parts that were not measured, as `feature: reason`.
    pub skips: Vec<String>,
    /// Further remarks, a sentence each.
    pub notes: Vec<String>,
    /// Tables, in their order.
    pub tables: Vec<Table>,
    /// Listings, in their order.
    pub listings: Vec<Listing>,
    /// Flame graph, shown on pages only.
    pub graph: Option<Graph>,
    /// Treemaps, shown on pages only.
    pub treemaps: Vec<Treemap>,
    /// Outlines, shown on pages only.
    pub outlines: Vec<Outline>,
    /// Timelines, shown on pages only.
    pub timelines: Vec<Timeline>,
    /// Heatmaps, shown on pages only.
    pub heatmaps: Vec<Heatmap>,
    /// Duration of the measurement in seconds; 0 without one.
    pub seconds: f64,
    /// True if the process ended during the measurement.
    pub target_ended: bool,
    /// Processor time that the measurement cost in this process, in percent of one processor, without the start.
    pub overhead_percent: f64,
    /// The same in seconds.
    pub overhead_seconds: f64,
    /// Processor time of the start in seconds, if it is counted by itself: loading programs into the kernel.
    pub start_cpu_seconds: f64,
}

/// Target of a measurement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Subject {
    /// A process.
    Process { name: String, pid: u32 },
    /// Path of a device or an image, or the name of a part of the machine.
    Device(String),
    /// Path of a file that a process wrote.
    File(String),
    /// Name of a recorded service, or of several.
    Service(String),
}

impl Default for Subject {
    fn default() -> Subject {
        Subject::Device(String::new())
    }
}

impl std::fmt::Display for Subject {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        match self {
            Subject::Process { name, pid } => write!(f, "{name} {pid}"),
            Subject::Device(name) | Subject::File(name) | Subject::Service(name) => f.write_str(name),
        }
    }
}

/// Table of text cells.
pub struct Table {
    /// Heading.
    pub title: String,
    /// Column names; true for a column of numbers.
    pub columns: Vec<(&'static str, bool)>,
    /// Rows, a cell for each column.
    pub rows: Vec<Vec<String>>,
    /// Rows shown on a terminal; a page shows all.
    pub shown: usize,
}

/// Lines below a heading line, several times: whole stacks, or calls and their callees.
/// Listing of indented lines.
pub struct Listing {
    /// Heading.
    pub title: String,
    /// Heading lines with the lines below each.
    pub of: Vec<(String, Vec<String>)>,
}

/// Flame graph of a page.
pub struct Graph {
    /// Heading.
    pub title: String,
    /// Stacks.
    pub tree: Tree,
    /// Earlier stacks, to compare with.
    pub old: Option<Tree>,
    /// True if the earlier stacks stand for as much work as these. Else their values are scaled to the same total.
    pub is_scaled: bool,
    /// Values of the tree in a second; 0 if they are not times.
    pub per_second: f64,
}

impl Graph {
    /// Returns a graph, or `None` for an empty tree.
    pub fn of(title: &str, tree: Tree, per_second: f64) -> Option<Graph> {
        (tree.total() > 0).then(|| Graph { title: title.to_owned(), tree, old: None, is_scaled: false, per_second })
    }
}

impl Graph {
    fn to_json(&self) -> Value {
        match &self.old {
            Some(old) if self.is_scaled => self.tree.to_json_of(old, 1.0),
            old => self.tree.to_json(old.as_ref()),
        }
    }
}

/// Name of the page in error messages.
pub const PAGE: &str = "the page";

impl Answer {
    /// Returns an empty answer about a process.
    pub fn new(command: &'static str, process: &Process) -> Answer {
        let subject = Subject::Process { name: label(process), pid: process.pid };
        Answer { command, subject, ..Answer::default() }
    }

    /// Returns an empty answer about a device, or a part of the machine.
    pub fn of_device(command: &'static str, path: String) -> Answer {
        Answer { command, subject: Subject::Device(path), ..Answer::default() }
    }

    /// Returns an empty answer about a file.
    pub fn of_file(command: &'static str, path: String) -> Answer {
        Answer { command, subject: Subject::File(path), ..Answer::default() }
    }

    /// Returns an empty answer about recorded services.
    pub fn of_service(command: &'static str, name: String) -> Answer {
        Answer { command, subject: Subject::Service(name), ..Answer::default() }
    }

    /// Records the duration, the end and the overhead of a measurement.
    pub fn watched(&mut self, watched: &Watched) {
        self.watched_twice(watched, Duration::ZERO);
    }

    /// The same for a measurement with a second, closer one, which took `closer`.
    pub fn watched_twice(&mut self, watched: &Watched, closer: Duration) {
        self.seconds = watched.time.as_secs_f64();
        self.target_ended = watched.end == End::TargetGone;
        self.overhead_seconds = (own_cpu_seconds() - self.start_cpu_seconds).max(0.0);
        self.overhead_percent = self.overhead_seconds / (watched.time + closer).as_secs_f64().max(0.001) * 100.0;
    }

    /// Adds a skip if `count` is not zero; `say` returns its text.
    pub fn missing(&mut self, count: u64, text: impl FnOnce(u64) -> String) {
        if count > 0 {
            self.skips.push(text(count));
        }
    }

    /// Prints the answer, and writes the page if one is requested. `facts`: the command's own JSON fields. Fails with
    /// `Cancelled` after ctrl-C.
    pub fn give(&self, flags: &AnswerFlags, end: End, facts: Value) -> Outcome {
        // The page is written first, because the reader of the text may have gone. An error of one does not lose the
        // other.
        let page = flags.output.as_deref().map_or(Ok(()), |path| whole_file::write(path, &page::of(self), PAGE));
        if flags.json {
            stdout::print_json(&self.as_json(facts))?
        } else {
            stdout::print(&text::of(self))?
        }
        page?;
        match end {
            End::Interrupted => Err(Failure::Reported(Code::Cancelled)),
            End::TimeOver | End::TargetGone | End::Enough => Ok(()),
        }
    }

    fn as_json(&self, facts: Value) -> Value {
        let mut document = json!({
            "command": self.command,
            "answer": self.lead,
            "skipped": self.skips,
            "notes": self.notes,
        });
        match &self.subject {
            Subject::Process { name, pid } => (document["process"], document["pid"]) = (json!(name), json!(pid)),
            Subject::Device(path) => document["device"] = json!(path),
            Subject::File(path) => document["file"] = json!(path),
            Subject::Service(name) => document["service"] = json!(name),
        }
        if self.seconds > 0.0 {
            document["seconds"] = json!(self.seconds);
            document["overhead_percent"] = json!(self.overhead_percent);
            document["overhead_seconds"] = json!(self.overhead_seconds);
            if self.start_cpu_seconds > 0.0 {
                document["start_cpu_seconds"] = json!(self.start_cpu_seconds);
            }
            document["target_ended"] = json!(self.target_ended);
        }
        if let (Some(document), Value::Object(facts)) = (document.as_object_mut(), facts) {
            document.extend(facts);
        }
        if let Some(graph) = &self.graph {
            document["kinds"] = json!(crate::stack::KINDS.map(|kind| kind.name()));
            document["tree"] = graph.to_json();
        }
        document
    }
}

/// Returns the processor time of this process so far, in seconds.
pub fn own_cpu_seconds() -> f64 {
    Process::of(std::process::id()).ok().and_then(|me| me.cpu_seconds()).unwrap_or(0.0)
}

/// Records the reason in `skips` and returns `None` on an error; the rest of the answer continues.
pub fn or_skip<T>(skips: &mut Vec<String>, feature: &str, result: Result<T>) -> Option<T> {
    result.map_err(|e| skips.push(format!("{feature}: {e}"))).ok()
}

/// Returns a listing of whole stacks, innermost frame first, each below its cost.
pub fn stacks(title: &str, dearest: Vec<(u64, Vec<Frame>)>, amount: impl Fn(u64) -> String) -> Listing {
    let of = dearest.into_iter().map(|(value, frames)| (amount(value), lines(&frames)));
    Listing { title: title.to_owned(), of: of.collect() }
}

/// Returns a stack as lines, innermost frame first.
pub fn lines(frames: &[Frame]) -> Vec<String> {
    frames.iter().rev().map(|frame| format!("{:<11}  {}", frame.kind.name(), frame.name)).collect()
}

/// Formats a time in three digits with a suitable unit: `1.23 s`, `45.6 ms`, `789 us`.
pub fn time(ns: u64) -> String {
    let (value, unit) = match ns {
        0..1_000 => return format!("{ns} ns"),
        1_000..999_500 => (ns as f64 / 1e3, "us"),
        999_500..999_500_000 => (ns as f64 / 1e6, "ms"),
        _ => (ns as f64 / 1e9, "s"),
    };
    let digits = if value < 9.995 { 2 } else { usize::from(value < 99.95) };
    format!("{value:.digits$} {unit}")
}

/// Formats bytes with a decimal unit: `1.23 GB`.
pub fn bytes(bytes: u64) -> String {
    let bytes = bytes as f64;
    match bytes {
        _ if bytes >= 1e9 => format!("{:.2} GB", bytes / 1e9),
        _ if bytes >= 1e6 => format!("{:.1} MB", bytes / 1e6),
        _ if bytes >= 1e3 => format!("{:.1} kB", bytes / 1e3),
        _ => format!("{bytes} B"),
    }
}

/// Formats a number of events: `1234`, `1.23 million`.
pub fn count(number: u64) -> String {
    match number {
        0..100_000 => number.to_string(),
        100_000..999_500_000 => format!("{:.2} million", number as f64 / 1e6),
        _ => format!("{:.2} billion", number as f64 / 1e9),
    }
}

/// Formats a share in percent: `12.3 %`.
pub fn percent(part: u64, all: u64) -> String {
    format!("{:.1} %", part as f64 / all.max(1) as f64 * 100.0)
}

#[cfg(test)]
mod tests {
    use super::time;

    #[test]
    fn formats_three_digits() {
        for (ns, text) in [
            (7, "7 ns"),
            (1_234, "1.23 us"),
            (99_960, "100 us"),
            (999_600, "1.00 ms"),
            (45_600_000, "45.6 ms"),
            (61_000_000_000, "61.0 s"),
        ] {
            assert_eq!(time(ns), text);
        }
    }
}
