//! Live output of traced calls: each as a tree, limited to as many lines per second as people can read.

use std::time::{Duration, Instant};

use yunti_program::failure::Outcome;
use yunti_program::terminal::paint::{self, Paint};
use yunti_program::terminal::stdout;

use crate::calls::Call;
use yunti_probe::answer;

/// Lines per second after which further calls are only counted.
const LINES_PER_SECOND: usize = 40;
/// Lines per outermost call.
const LINES_PER_CALL: usize = 20;
const SECOND: Duration = Duration::from_secs(1);

/// Live output on the terminal. If it is not wanted, calls are ignored.
pub struct Live {
    is_wanted: bool,
    paint: Paint,
    since: Instant,
    lines: usize,
    not_shown: usize,
    /// An error once the reader of the output has gone.
    pub outcome: Outcome,
}

impl Live {
    pub fn new(is_wanted: bool) -> Live {
        Live { is_wanted, paint: paint::for_stdout(), since: Instant::now(), lines: 0, not_shown: 0, outcome: Ok(()) }
    }

    /// Prints a call, unless this second has its lines already.
    ///
    /// @param name returns a method's name by its number
    pub fn show<'a>(&mut self, thread: &str, call: &Call, name: impl Fn(u32) -> &'a str) {
        if !self.is_wanted || self.outcome.is_err() {
            return;
        }
        self.pass();
        if self.lines >= LINES_PER_SECOND {
            self.not_shown += 1;
            return;
        }
        let mut lines = Vec::new();
        tree(call, 0, &name, &mut lines);
        let count = call.count();
        if count > lines.len() {
            lines.push(format!("{:11}.. {} more calls", "", count - lines.len()));
        }
        self.lines += lines.len();
        lines[0] += &self.paint.dim(&format!("  [{thread}]"));
        self.print(&(lines.join("\n") + "\n"));
    }

    /// Starts a new second if one is over.
    pub fn pass(&mut self) {
        if self.since.elapsed() >= SECOND {
            self.end();
            (self.since, self.lines) = (Instant::now(), 0);
        }
    }

    pub fn end(&mut self) {
        match std::mem::take(&mut self.not_shown) {
            0 => {}
            n => self.print(&self.paint.dim(&format!("{:11}.. {n} outermost calls not shown\n", ""))),
        }
    }

    fn print(&mut self, text: &str) {
        if self.outcome.is_ok() {
            self.outcome = stdout::print(text);
        }
    }
}

/// Appends the lines of a call and its callees, up to [`LINES_PER_CALL`].
pub fn tree<'a>(call: &Call, level: usize, name: &impl Fn(u32) -> &'a str, lines: &mut Vec<String>) {
    if lines.len() >= LINES_PER_CALL {
        return;
    }
    lines.push(format!("{:>9}  {:indent$}{}", answer::time(call.nanos), "", call_text(call, name), indent = level * 2));
    for callee in &call.calls {
        tree(callee, level + 1, name, lines);
    }
}

/// Formats a call as a line of code: `Cart.total(7) = 21`.
pub fn call_text<'a>(call: &Call, name: &impl Fn(u32) -> &'a str) -> String {
    let name = name(call.method);
    let mut text = match &call.texts {
        Some((arguments, result)) if call.has_thrown => format!("{name}({arguments}) throws {result}"),
        Some((arguments, result)) if !result.is_empty() => format!("{name}({arguments}) = {result}"),
        Some((arguments, _)) => format!("{name}({arguments})"),
        None if call.has_thrown => format!("{name} throws"),
        None => name.to_owned(),
    };
    if call.is_running {
        text += ", still running";
    }
    // The target's text must not control the terminal.
    text.replace(|c: char| c.is_control(), " ")
}
