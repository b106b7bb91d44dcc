//! What a command has found out, in the parts that all answers have: one line that says it, tables, stacks, a graph. As text for terminals and as a
//! page; the JSON is each command's own.

mod page;
mod text;
mod treemap;

use serde_json::{Value, json};
use yunti_base::whole_file;
use yunti_base::{Code, Result};
use yunti_program::failure::{Failure, Outcome};
use yunti_program::terminal::stdout;

pub use text::table as on_terminal;
pub use treemap::{Part, Treemap};

use crate::options::AnswerFlags;
use crate::stack::{Frame, Tree};
use crate::stopping::{End, Watched};
use crate::target::{Process, label};

#[derive(Default)]
pub struct Answer {
    /// `flame`
    pub command: &'static str,
    pub subject: Subject,
    /// The answer in one line, without the subject.
    pub lead: String,
    /// `feature: reason`
    pub skips: Vec<String>,
    /// What else is to be known, a sentence each.
    pub notes: Vec<String>,
    pub tables: Vec<Table>,
    pub listings: Vec<Listing>,
    pub graph: Option<Graph>,
    pub treemaps: Vec<Treemap>,
    /// 0: nothing was watched, it is as it was found.
    pub seconds: f64,
    pub target_ended: bool,
    /// Processor time that looking has cost, in this process, in percent of one processor.
    pub overhead_percent: f64,
}

/// What was looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Subject {
    Process {
        name: String,
        pid: u32,
    },
    /// A device or an image, by its path.
    Device(String),
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
            Subject::Device(path) => f.write_str(path),
        }
    }
}

pub struct Table {
    pub title: String,
    /// A name, and whether what stands below is a number.
    pub columns: Vec<(&'static str, bool)>,
    pub rows: Vec<Vec<String>>,
    /// On a terminal; a page has them all.
    pub shown: usize,
}

/// Lines below a line, several times: whole stacks, or calls with what they call.
pub struct Listing {
    pub title: String,
    pub of: Vec<(String, Vec<String>)>,
}

/// A flame graph, which pages have.
pub struct Graph {
    pub title: String,
    pub tree: Tree,
    pub old: Option<Tree>,
    /// What a second is in values of the tree; 0: they are no times.
    pub per_second: f64,
}

impl Graph {
    /// None: there is nothing in it.
    pub fn of(title: &str, tree: Tree, per_second: f64) -> Option<Graph> {
        (tree.total() > 0).then(|| Graph { title: title.to_owned(), tree, old: None, per_second })
    }
}

/// What an error calls it.
pub const PAGE: &str = "the page";

impl Answer {
    pub fn new(command: &'static str, process: &Process) -> Answer {
        let subject = Subject::Process { name: label(process), pid: process.pid };
        Answer { command, subject, ..Answer::default() }
    }

    pub fn of_device(command: &'static str, path: String) -> Answer {
        Answer { command, subject: Subject::Device(path), ..Answer::default() }
    }

    /// How looking went.
    pub fn watched(&mut self, watched: &Watched) {
        self.seconds = watched.time.as_secs_f64();
        self.target_ended = watched.end == End::TargetGone;
        let own = Process::of(std::process::id()).ok().and_then(|me| me.cpu_seconds()).unwrap_or(0.0);
        self.overhead_percent = own / self.seconds.max(0.001) * 100.0;
    }

    /// Says what is missing, where anything is.
    pub fn missing(&mut self, count: u64, say: impl FnOnce(u64) -> String) {
        if count > 0 {
            self.skips.push(say(count));
        }
    }

    /// Prints it, and writes the page that is asked for.
    ///
    /// @param facts of the command's own, beside what every document has
    pub fn give(&self, flags: &AnswerFlags, end: End, facts: Value) -> Outcome {
        // The page first: who reads the text may have gone. Neither is lost with the other.
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
        }
        if self.seconds > 0.0 {
            document["seconds"] = json!(self.seconds);
            document["overhead_percent"] = json!(self.overhead_percent);
            document["target_ended"] = json!(self.target_ended);
        }
        if let (Some(document), Value::Object(facts)) = (document.as_object_mut(), facts) {
            document.extend(facts);
        }
        if let Some(graph) = &self.graph {
            document["kinds"] = json!(crate::stack::KINDS.map(|kind| kind.name()));
            document["tree"] = graph.tree.to_json(graph.old.as_ref());
        }
        document
    }
}

/// Does without a part of the answer, and says why: the rest is told all the same.
pub fn or_skip<T>(skips: &mut Vec<String>, feature: &str, result: Result<T>) -> Option<T> {
    result.map_err(|e| skips.push(format!("{feature}: {e}"))).ok()
}

/// Whole stacks, each below what was spent in it, the innermost frame first.
pub fn stacks(title: &str, dearest: Vec<(u64, Vec<Frame>)>, amount: impl Fn(u64) -> String) -> Listing {
    let of = dearest.into_iter().map(|(value, frames)| (amount(value), lines(&frames)));
    Listing { title: title.to_owned(), of: of.collect() }
}

/// A stack, the innermost frame first.
pub fn lines(frames: &[Frame]) -> Vec<String> {
    frames.iter().rev().map(|frame| format!("{:<11}  {}", frame.kind.name(), frame.name)).collect()
}

/// A time in three digits and the unit that reads best: `1.23 s`, `45.6 ms`, `789 us`.
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

pub fn bytes(bytes: u64) -> String {
    let bytes = bytes as f64;
    match bytes {
        _ if bytes >= 1e9 => format!("{:.2} GB", bytes / 1e9),
        _ if bytes >= 1e6 => format!("{:.1} MB", bytes / 1e6),
        _ if bytes >= 1e3 => format!("{:.1} kB", bytes / 1e3),
        _ => format!("{bytes} B"),
    }
}

pub fn percent(part: u64, all: u64) -> String {
    format!("{:.1} %", part as f64 / all.max(1) as f64 * 100.0)
}

#[cfg(test)]
mod tests {
    use super::time;

    #[test]
    fn three_digits() {
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
