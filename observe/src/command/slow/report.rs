//! The answer about slow requests: text, tables, graph and JSON.

use std::collections::HashMap;
use std::time::Duration;

use serde_json::{Value, json};

use super::comparison::{Comparison, Group, Stack, kinds, main_place, stacks};
use super::evidence::{Breakdown, Evidence, Times};
use super::request::{Request, quantile, slow_from, sorted_durations};
use crate::jvm::overlaps;
use crate::time_kind::{KINDS, TimeKind};
use yunti_probe::answer::{self, Answer, Graph, Listing, Table};
use yunti_probe::stack::{Frame, Kind, Tree};

/// Slow requests listed one by one on a terminal.
const SLOWEST: usize = 10;
/// Slow requests listed by `--json`; also its stacks.
const IN_JSON_MAX: usize = 1000;
/// Stacks listed on a terminal.
const STACKS: usize = 40;
const NO_STACK: &str = "[no stack was taken]";

/// Slow and fast requests, compared.
pub struct Findings<'a> {
    evidence: &'a Evidence,
    /// Duration from which on a request is slow.
    from_ns: u64,
    /// Slow requests by descending duration.
    slow: Vec<(&'a Request, Breakdown)>,
    group: Group,
    fast: Group,
    kinds: Vec<(TimeKind, Comparison)>,
    stacks: Vec<Stack>,
}

impl<'a> Findings<'a> {
    pub fn of(evidence: &'a Evidence, over: Option<Duration>) -> Findings<'a> {
        let from_ns = slow_from(&evidence.requests, over);
        let (mut slow, mut group, mut fast) = (Vec::new(), Group::default(), Group::default());
        for request in &evidence.requests {
            let breakdown = evidence.breakdown(request);
            if request.duration_ns() >= from_ns {
                group.add(request.duration_ns(), &breakdown);
                slow.push((request, breakdown));
            } else {
                fast.add(request.duration_ns(), &breakdown);
            }
        }
        slow.sort_by_key(|(request, _)| std::cmp::Reverse(request.duration_ns()));
        let (kinds, stacks) = (kinds(&group, &fast), stacks(&group, &fast));
        Findings { evidence, from_ns, slow, group, fast, kinds, stacks }
    }

    fn lead(&self) -> String {
        let (all, what) = (self.evidence.requests.len(), &self.evidence.what);
        let Some((kind, comparison)) = self.kinds.first().filter(|_| !self.slow.is_empty()) else {
            return match sorted_durations(self.evidence.requests.iter()).last() {
                Some(longest) => format!(
                    "none of {all} requests ({what}) took {} or longer; the longest took {}",
                    answer::time(self.from_ns),
                    answer::time(*longest)
                ),
                None if self.evidence.of_virtual_threads > 0 => format!(
                    "{} requests ({what}) ran, all on virtual threads, which cannot be measured: run the same code on \
                     a pool of platform threads",
                    self.evidence.of_virtual_threads
                ),
                None => format!("no request ({what}) began and ended in this time"),
            };
        };
        let mean = |group: &Group| answer::time(group.mean(group.total_ns));
        let instead = if self.fast.requests > 0 { format!(" instead of {}", mean(&self.fast)) } else { String::new() };
        let place = self.why(*kind);
        let more = if self.fast.requests > 0 { " more" } else { "" };
        let difference = comparison.difference().max(0) as u64;
        format!(
            "{} of {all} requests took {}{instead}: {}{more} {}{place}",
            self.slow.len(),
            mean(&self.group),
            answer::time(difference),
            phrase(*kind)
        )
    }

    /// Returns the stacks of slow requests, grouped by kind of time.
    fn tree(&self) -> Tree {
        let heading = |name: &str| Frame { name: name.into(), kind: Kind::Group };
        let mut tree = Tree::default();
        for part in self.slow.iter().flat_map(|(_, breakdown)| &breakdown.stacks) {
            let head = heading(part.kind.name());
            match &part.frames {
                Some(frames) => tree.add(std::iter::once(&head).chain(frames.iter()), part.ns),
                None => tree.add([&head, &heading(NO_STACK)], part.ns),
            }
        }
        tree
    }

    /// Returns the pauses of the JVM during slow requests, longest total first: (reason, is a GC, count, nanoseconds).
    fn pauses(&self) -> Vec<(&'a str, bool, u64, u64)> {
        let mut sums: HashMap<&str, (bool, u64, u64)> = HashMap::new();
        for (request, _) in &self.slow {
            for (pause, ns) in overlaps(&self.evidence.pauses, request.begin_ns, request.end_ns) {
                let sum = sums.entry(&pause.reason).or_insert((pause.is_gc(), 0, 0));
                *sum = (sum.0, sum.1 + 1, sum.2 + ns);
            }
        }
        let mut all: Vec<_> = sums.into_iter().map(|(reason, (is_gc, n, ns))| (reason, is_gc, n, ns)).collect();
        all.sort_by(|a, b| b.3.cmp(&a.3).then_with(|| a.0.cmp(b.0)));
        all
    }

    /// Returns the reason of the difference as `, in ..`: the JVM operation of a pause, else the place in the program.
    fn why(&self, kind: TimeKind) -> String {
        let place = || main_place(&self.stacks, kind).map(|place| format!(", in {place}"));
        let of_pauses = |wants_gc: bool| {
            let (reason, _, _, ns) = self.pauses().into_iter().find(|(_, is_gc, ..)| *is_gc == wants_gc)?;
            // The program may also wait for a concurrent phase of the collector.
            (ns >= self.group.times[kind as usize] / 2).then(|| format!(", {reason}"))
        };
        match kind {
            TimeKind::Gc | TimeKind::Safepoint => of_pauses(kind == TimeKind::Gc).or_else(place),
            TimeKind::RunQueue => None,
            _ => place(),
        }
        .unwrap_or_default()
    }

    pub fn render(self, answer: &mut Answer) {
        answer.lead = self.lead();
        if self.evidence.requests.is_empty() {
            answer.notes.push("Requests that began before the measurement or ended after it are left out.".to_owned());
        }
        let is_slow = |request: &&Request| request.duration_ns() >= self.from_ns;
        let row = |name: &str, durations: &[u64]| {
            let shown = |share: f64| quantile(durations, share).map_or_else(|| "-".to_owned(), answer::time);
            vec![name.to_owned(), durations.len().to_string(), shown(0.5), shown(0.99), shown(1.0)]
        };
        let requests = &self.evidence.requests;
        let (slow, fast) = (
            sorted_durations(requests.iter().filter(is_slow)),
            sorted_durations(requests.iter().filter(|r| !is_slow(r))),
        );
        answer.tables.push(Table {
            title: format!("Requests ({}), slow from {} on", self.evidence.what, answer::time(self.from_ns)),
            columns: vec![("", false), ("count", true), ("p50", true), ("p99", true), ("max", true)],
            rows: if requests.is_empty() { vec![] } else { vec![row("slow", &slow), row("fast", &fast)] },
            shown: 2,
        });
        if self.slow.is_empty() {
            return;
        }
        answer.tables.push(Table {
            title: "Where the time of one request goes".to_owned(),
            columns: vec![("slow", true), ("fast", true), ("difference", true), ("spent", false)],
            rows: self.kinds.iter().map(|(kind, comparison)| beside_row(*kind, *comparison)).collect(),
            shown: KINDS.len(),
        });
        let slowest = self.slow.iter().take(SLOWEST).map(|(request, breakdown)| {
            let since = request.begin_ns.saturating_sub(requests.first().map_or(0, |first| first.begin_ns));
            let thread = request.thread.to_string();
            vec![
                answer::time(request.duration_ns()),
                format!("{:.3} s", since as f64 / 1e9),
                thread,
                largest(&breakdown.times),
            ]
        });
        answer.tables.push(Table {
            title: "The slowest requests".to_owned(),
            columns: vec![("took", true), ("at", true), ("thread", false), ("of it", false)],
            rows: slowest.collect(),
            shown: SLOWEST,
        });
        let pauses = self.pauses().into_iter().map(|(reason, is_gc, n, ns)| {
            let kind = if is_gc { TimeKind::Gc } else { TimeKind::Safepoint };
            vec![answer::time(ns), n.to_string(), kind.name().to_owned(), reason.to_owned()]
        });
        answer.tables.push(Table {
            title: "Pauses of the JVM while slow requests were under way".to_owned(),
            columns: vec![("time", true), ("pauses", true), ("", false), ("for", false)],
            rows: pauses.collect(),
            shown: 5,
        });
        answer.listings.push(listing(&self.stacks));
        answer.graph = Graph::of("What slow requests did, by kind of time", self.tree(), 1e9);
    }

    pub fn facts(&self) -> Value {
        let durations = |of_slow: bool| {
            let sorted = sorted_durations(
                self.evidence.requests.iter().filter(|r| (r.duration_ns() >= self.from_ns) == of_slow),
            );
            let total: u64 = sorted.iter().sum();
            json!({
                "count": sorted.len(),
                "total_ns": total,
                "p50_ns": quantile(&sorted, 0.5),
                "p99_ns": quantile(&sorted, 0.99),
                "max_ns": quantile(&sorted, 1.0),
            })
        };
        let comparison =
            |it: &Comparison| json!({ "slow_ns": it.slow_ns, "fast_ns": it.fast_ns, "difference_ns": it.difference() });
        let kinds = self.kinds.iter().map(|(kind, b)| {
            let mut json = comparison(b);
            json["kind"] = json!(kind.name());
            json
        });
        let stacks = self.stacks.iter().take(IN_JSON_MAX).map(|stack| {
            let mut json = comparison(&stack.comparison);
            json["kind"] = json!(stack.kind.name());
            json["frames"] = stack.frames.iter().map(|frame| &*frame.name).collect();
            json
        });
        let slowest = self.slow.iter().take(IN_JSON_MAX).map(|(request, breakdown)| {
            json!({
                "begin_ns": request.begin_ns,
                "duration_ns": request.duration_ns(),
                "thread": &*request.thread,
                "tid": request.tid,
                "spent": spent(&breakdown.times)
                    .map(|(kind, ns)| (kind.name().to_owned(), json!(ns)))
                    .collect::<serde_json::Map<_, _>>(),
            })
        });
        json!({
            "request": self.evidence.what,
            "slow_from_ns": self.from_ns,
            "slow": durations(true),
            "fast": durations(false),
            "spent": kinds.collect::<Vec<_>>(),
            "pauses": self
                .pauses()
                .iter()
                .map(|(reason, is_gc, n, ns)| {
                    json!({ "reason": reason, "is_gc": is_gc, "count": n, "total_ns": ns })
                })
                .collect::<Vec<_>>(),
            "stacks": stacks.collect::<Vec<_>>(),
            "slowest": slowest.collect::<Vec<_>>(),
        })
    }
}

/// Returns the words for a kind of time in a sentence.
fn phrase(kind: TimeKind) -> String {
    match kind {
        TimeKind::OnCpu => "on the processor".to_owned(),
        TimeKind::RunQueue => "in the run queue, waiting for a processor".to_owned(),
        TimeKind::Lock => "waiting for a lock".to_owned(),
        TimeKind::OtherThread => "waiting for another thread".to_owned(),
        TimeKind::Sleep => "asleep".to_owned(),
        TimeKind::FileIo => "in file I/O".to_owned(),
        TimeKind::Network => "waiting for the network or a pipe".to_owned(),
        TimeKind::PageFault => "in page faults".to_owned(),
        TimeKind::Gc => "waiting for the garbage collector".to_owned(),
        TimeKind::Safepoint => "in safepoints of the JVM".to_owned(),
        TimeKind::Other => "waiting for something else".to_owned(),
    }
}

fn beside_row(kind: TimeKind, comparison: Comparison) -> Vec<String> {
    let sign = if comparison.difference() < 0 { "-" } else { "+" };
    let difference = format!("{sign}{}", answer::time(comparison.difference().unsigned_abs()));
    vec![answer::time(comparison.slow_ns), answer::time(comparison.fast_ns), difference, kind.name().to_owned()]
}

/// Returns the kinds of time above zero, by descending nanoseconds.
fn spent(times: &Times) -> impl Iterator<Item = (TimeKind, u64)> {
    let mut all = KINDS.map(|kind| (kind, times[kind as usize]));
    all.sort_by_key(|(_, ns)| std::cmp::Reverse(*ns));
    all.into_iter().filter(|(_, ns)| *ns > 0)
}

/// Formats the largest kinds: `lock 40.1 ms, on CPU 2.0 ms`.
fn largest(times: &Times) -> String {
    let parts: Vec<String> =
        spent(times).take(4).map(|(kind, ns)| format!("{} {}", kind.name(), answer::time(ns))).collect();
    parts.join(", ")
}

fn listing(stacks: &[Stack]) -> Listing {
    let larger = stacks.iter().filter(|stack| stack.comparison.difference() > 0).take(STACKS);
    let of = larger.map(|stack| {
        let Comparison { slow_ns, fast_ns } = stack.comparison;
        let head = format!(
            "{} of a slow request, {} of a fast one: {}",
            answer::time(slow_ns),
            answer::time(fast_ns),
            stack.kind.name()
        );
        (head, answer::lines(&stack.frames))
    });
    Listing { title: "What slow requests do more than fast ones".to_owned(), of: of.collect() }
}
