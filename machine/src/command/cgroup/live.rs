//! Live output: on a terminal a table that is replaced each second, as `top` does; else a line each second.

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::time::Instant;

use yunti_program::failure::Outcome;
use yunti_program::terminal::{height, is_rich, stdout};

use super::Sort;
use super::counters::Counters;
use super::instance::{Instance, Threads};
use super::report::{by, live_table};
use super::sample::{Group, instance, is_wanted};
use yunti_probe::answer::on_terminal;
use yunti_probe::kernel::system::RequestCounts;

/// Groups in a line.
const SHOWN: usize = 4;
/// Rows of a table.
const ROWS_MAX: usize = 20;
/// Lines of the terminal that the table leaves free.
const LINES_BESIDE: usize = 5;

/// Live output, and the counters of the previous one.
pub struct Live {
    is_wanted: bool,
    is_table: bool,
    only: Vec<String>,
    sort: Sort,
    begun: Instant,
    shown: Instant,
    before: HashMap<PathBuf, Counters>,
    threads: HashMap<PathBuf, Threads>,
    requests: HashMap<PathBuf, RequestCounts>,
    /// Lines of the table on the terminal.
    lines: usize,
    /// Fails when the reader of the output has gone.
    pub outcome: Outcome,
}

impl Live {
    /// Returns the output for groups in `only`, sorted by `sort`.
    pub fn new(is_wanted: bool, only: &[String], sort: Sort) -> Live {
        let now = Instant::now();
        Live {
            is_wanted,
            is_table: is_wanted && is_rich(&std::io::stdout()),
            only: only.to_vec(),
            sort,
            begun: now,
            shown: now,
            before: HashMap::new(),
            threads: HashMap::new(),
            requests: HashMap::new(),
            lines: 0,
            outcome: Ok(()),
        }
    }

    /// Returns true on a terminal.
    pub fn is_table(&self) -> bool {
        self.is_table
    }

    /// Prints the groups that use most, if output is wanted.
    pub fn show_line(&mut self, groups: &BTreeMap<PathBuf, Group>) {
        if !self.is_wanted {
            return;
        }
        let used = self.since_before(groups).into_iter().filter(|one| one.cpu_seconds > 0.005).take(SHOWN);
        let shown: Vec<String> = used.map(|one| format!("{} {:.2}", one.name, one.cpu_seconds)).collect();
        self.print(&format!("{:5.0} s  processors: {}\n", self.begun.elapsed().as_secs_f64(), shown.join(", ")));
        self.remember(groups);
    }

    /// Replaces the table. `threads` and `requests` are sums since the start.
    pub fn show_table(
        &mut self,
        groups: &BTreeMap<PathBuf, Group>,
        threads: HashMap<PathBuf, Threads>,
        requests: HashMap<PathBuf, RequestCounts>,
    ) {
        let seconds = self.shown.elapsed().as_secs_f64();
        let mut instances = self.since_before(groups);
        for one in &mut instances {
            let (now, before) = (threads.get(&one.path), self.threads.get(&one.path));
            one.threads = now.copied().unwrap_or_default().since(before);
            let moved = |of: fn(&RequestCounts) -> u64| {
                requests.get(&one.path).map_or(0, of).saturating_sub(self.requests.get(&one.path).map_or(0, of))
            };
            one.requests.read_bytes = moved(|r| r.read_bytes);
            one.requests.written_bytes = moved(|r| r.written_bytes);
            if groups.get(&one.path).is_some_and(|group| group.last.cpu_seconds.is_none()) {
                one.cpu_seconds = one.threads.ran_ns as f64 / 1e9;
            }
        }
        instances.retain(|one| !one.has_ended && one.is_there());
        instances.sort_by(|a, b| by(b, self.sort).total_cmp(&by(a, self.sort)).then_with(|| a.name.cmp(&b.name)));
        let rows = height().saturating_sub(LINES_BESIDE).clamp(1, ROWS_MAX);
        let table = on_terminal(&live_table(&instances, seconds, rows));
        let erase = self.erase();
        self.lines = table.lines().count() + 1;
        self.print(&format!("{erase}{:5.0} s\n{table}", self.begun.elapsed().as_secs_f64()));
        (self.threads, self.requests) = (threads, requests);
        self.remember(groups);
    }

    /// Erases the table before the final report.
    pub fn end(&mut self) {
        let erase = self.erase();
        if !erase.is_empty() {
            self.print(&erase);
        }
    }

    /// Control codes that erase the table, including a `^C` that the terminal has echoed.
    fn erase(&mut self) -> String {
        match std::mem::take(&mut self.lines) {
            0 => String::new(),
            lines => format!("\r\x1b[{lines}A\x1b[J"),
        }
    }

    /// Use of each group since the last output, largest first.
    fn since_before(&self, groups: &BTreeMap<PathBuf, Group>) -> Vec<Instance> {
        let now = groups.values().map(|group| group.last_seen).max().unwrap_or(self.begun);
        let of = |(path, group): (&PathBuf, &Group)| {
            let first = self.before.get(path).unwrap_or(&group.first).clone();
            let since =
                Group { first, last: group.last.clone(), first_seen: group.first_seen, last_seen: group.last_seen };
            instance(path, &since, now)
        };
        let mut all: Vec<Instance> =
            groups.iter().map(of).filter(|one| is_wanted(&one.path, &one.name, &self.only)).collect();
        all.sort_by(|a, b| b.cpu_seconds.total_cmp(&a.cpu_seconds));
        all
    }

    fn remember(&mut self, groups: &BTreeMap<PathBuf, Group>) {
        self.before = groups.iter().map(|(path, group)| (path.clone(), group.last.clone())).collect();
        self.shown = Instant::now();
    }

    fn print(&mut self, text: &str) {
        if self.outcome.is_ok() {
            self.outcome = stdout::print(text);
        }
    }
}
