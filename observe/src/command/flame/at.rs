//! `yunti observe flame --at`: the flame graph of recorded slices, and the difference to others.

use jiff::Zoned;
use serde_json::json;
use yunti_base::{Code, Error, Result};
use yunti_program::failure::Outcome;
use yunti_record::{Measure, Query, Stacks};

use super::event::FlameEvent;
use super::{FlameFlags, HOTTEST};
use crate::history::{self, Source, Span, SpanKind};
use yunti_probe::answer::{self, Answer, Graph, Table};
use yunti_probe::stack::Tree;
use yunti_probe::stopping::End;

/// Slices of a service, put together.
#[derive(Default)]
struct Side {
    text: String,
    stacks: Stacks,
    slices: usize,
    duration_ms: u64,
    /// Requests; `None` if a slice has none counted.
    requests: Option<u64>,
    releases: Vec<String>,
}

pub fn flame(flags: &FlameFlags) -> Outcome {
    let now = Zoned::now();
    let at = flags.at.as_deref().unwrap_or("now");
    let words = |text: &str| history::span(text, &now).map_err(|e| Error::new(Code::Usage, e));
    let mut span = words(at)?;
    let against = flags.against.as_deref().map(words).transpose()?;
    let against = against.map(|other| match (span.kind, other.kind) {
        (SpanKind::Now | SpanKind::Moment | SpanKind::Range, SpanKind::Day) => {
            span.on_day_of(&other, now.time_zone()).unwrap_or(other)
        }
        _ => other,
    });
    let from = |span: &Span| span.from_ms.saturating_sub(history::SLICE_MS_MAX);
    let query = Query {
        from_ms: Some(against.as_ref().map_or(from(&span), |other| from(other).min(from(&span)))),
        to_ms: Some(against.as_ref().map_or(span.to_ms, |other| other.to_ms.max(span.to_ms))),
        ..Query::default()
    };
    let measure = match flags.event {
        FlameEvent::Sampled(event) => Measure::from_name(event.name()).unwrap_or(Measure::Cpu),
        FlameEvent::Counted(event) => {
            let error = Error::new(Code::Usage, format!("slices have no {}", event.name()));
            return Err(error.hint("recorded are cpu, wall, alloc and lock").into());
        }
    };
    let source = Source::open(flags.store.as_deref(), &query)?;
    if flags.at.is_none() && !source.is_file() {
        return Err(Error::new(Code::Usage, "--store needs a time").hint("add --at \"03:10\"").into());
    }
    let service = history::choose(&source.list(&Query::default())?, flags.target.name.as_deref())?;
    let mut answer = Answer::of_service("flame", service.clone());
    if source.is_file() {
        span.kind = SpanKind::Moment;
    }
    let side = |span: &Span, skips: &mut Vec<String>| -> Result<Side> {
        let entries = history::slices_at(&source, &service, span, now.time_zone())?;
        let mut side = Side { text: span.text(now.time_zone()), requests: Some(0), ..Side::default() };
        history::take(&source, &entries, skips, |slice| side.add(slice))?;
        Ok(side)
    };
    let this = side(&span, &mut answer.skips)?;
    let other = against.as_ref().map(|span| side(span, &mut answer.skips)).transpose()?;
    render(flags, &mut answer, measure, &this, other.as_ref());
    let facts = json!({
        "event": measure.name(),
        "unit": measure.unit(),
        "at": this.to_json(measure),
        "against": other.as_ref().map(|side| side.to_json(measure)),
    });
    answer.give(&flags.output.answer, End::Enough, facts)
}

impl Side {
    fn add(&mut self, slice: yunti_record::Slice) {
        self.stacks.join(&slice.stacks);
        self.slices += 1;
        self.duration_ms += slice.facts.duration_ms;
        self.requests = self.requests.zip(slice.facts.requests).map(|(sum, n)| sum + n);
        let release = slice.facts.service.release;
        if !release.is_empty() && !self.releases.contains(&release) {
            self.releases.push(release);
        }
    }

    fn requests(&self) -> Option<u64> {
        self.requests.filter(|n| *n > 0)
    }

    fn to_json(&self, measure: Measure) -> serde_json::Value {
        json!({
            "text": self.text,
            "slices": self.slices,
            "seconds": self.duration_ms as f64 / 1000.0,
            "requests": self.requests,
            "releases": self.releases,
            "total": self.stacks.total(measure),
        })
    }
}

/// Unit of the values of a graph.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Per {
    Request,
    /// A second of the recorded time.
    Second,
}

fn render(flags: &FlameFlags, answer: &mut Answer, measure: Measure, this: &Side, other: Option<&Side>) {
    let has_requests = this.requests().is_some() && other.is_none_or(|side| side.requests().is_some());
    let per = if has_requests { Per::Request } else { Per::Second };
    let total = this.stacks.total(measure);
    let all = amount(measure, total as f64);
    let slices = if this.slices == 1 { "one slice".to_owned() } else { format!("{} slices", this.slices) };
    answer.lead = format!("{}: {all} in {slices} of {}", flags.event.quantity(), this.text);
    if let Some(requests) = this.requests() {
        answer.lead += &format!(", {} a request", amount(measure, total as f64 / requests as f64));
    }
    if total == 0 {
        answer.notes.push("No such event occurred in this time.".to_owned());
    }
    if !this.releases.is_empty() {
        answer.notes.push(format!("Release {}.", this.releases.join(", ")));
    }
    let tree = history::tree(&this.stacks, measure, 1.0);
    let Some(other) = other else {
        answer.tables.push(hottest(measure, &tree, this.requests(), HOTTEST));
        answer.graph = Some(graph(measure, tree, None));
        return;
    };
    // The other side at this side's number of requests, or at its length.
    let scale = match per {
        Per::Request => this.requests.unwrap_or(1) as f64 / other.requests.unwrap_or(1).max(1) as f64,
        Per::Second => this.duration_ms as f64 / other.duration_ms.max(1) as f64,
    };
    let old = history::tree(&other.stacks, measure, scale);
    let (then, now) = (old.total() as f64, tree.total() as f64);
    let change = if then > 0.0 { format!("{:+.1} %", (now / then - 1.0) * 100.0) } else { "all new".to_owned() };
    let unit = if per == Per::Request { "a request" } else { "a second" };
    answer.notes.push(format!(
        "{change} {unit} against {}, with {} slices{}.",
        other.text,
        other.slices,
        match &other.releases[..] {
            [] => String::new(),
            releases => format!(" of release {}", releases.join(", ")),
        }
    ));
    let divisor = match per {
        Per::Request => this.requests.unwrap_or(1) as f64,
        Per::Second => this.duration_ms.max(1) as f64 / 1000.0,
    };
    answer.tables.push(changes(measure, &tree, &old, unit, divisor));
    answer.tables.push(hottest(measure, &tree, this.requests(), 0));
    answer.graph = Some(graph(measure, tree, Some(old)));
}

fn graph(measure: Measure, tree: Tree, old: Option<Tree>) -> Graph {
    let per_second = if measure == Measure::Alloc { 0.0 } else { 1e9 };
    Graph { title: "Call graph".to_owned(), tree, old, is_scaled: true, per_second }
}

fn amount(measure: Measure, value: f64) -> String {
    let value = value.round().max(0.0) as u64;
    if measure == Measure::Alloc { answer::bytes(value) } else { answer::time(value) }
}

fn hottest(measure: Measure, tree: &Tree, requests: Option<u64>, shown: usize) -> Table {
    let rows = tree.hottest().into_iter().map(|hot| {
        let share = |value: u64| answer::percent(value, tree.total());
        let each = requests.map_or_else(String::new, |n| amount(measure, hot.own as f64 / n as f64));
        let kind = hot.frame.kind.name().to_owned();
        vec![share(hot.own), share(hot.total), amount(measure, hot.own as f64), each, kind, hot.frame.name.to_string()]
    });
    Table {
        title: "Hottest frames, by own share".to_owned(),
        columns: vec![
            ("own", true),
            ("total", true),
            ("own", true),
            ("a request", true),
            ("kind", false),
            ("frame", false),
        ],
        rows: rows.collect(),
        shown,
    }
}

/// Returns the changes of each function's own cost, largest first.
fn changes(measure: Measure, tree: &Tree, old: &Tree, unit: &'static str, divisor: f64) -> Table {
    let mut costs = std::collections::HashMap::new();
    for (of, side) in [(old, 0), (tree, 1)] {
        for hot in of.hottest() {
            costs.entry(hot.frame.name.clone()).or_insert([0.0; 2])[side] += hot.own as f64 / divisor;
        }
    }
    costs.retain(|_, [then, now]| then != now);
    let mut all: Vec<_> = costs.into_iter().collect();
    let size = |costs: &[f64; 2]| (costs[1] - costs[0]).abs();
    all.sort_by(|a, b| size(&b.1).total_cmp(&size(&a.1)).then_with(|| a.0.cmp(&b.0)));
    let rows = all.into_iter().map(|(name, [then, now])| {
        let sign = if now < then { "-" } else { "+" };
        let by = format!("{sign}{}", amount(measure, (now - then).abs()));
        vec![amount(measure, then), amount(measure, now), by, name.to_string()]
    });
    Table {
        title: format!("Changes of own cost, {unit}"),
        columns: vec![("then", true), ("now", true), ("change", true), ("frame", false)],
        rows: rows.collect(),
        shown: HOTTEST,
    }
}
