//! `yunti observe trace`: how long calls of Java methods take, and who calls whom, while the program runs.

use std::time::Duration;

use clap::Args;
use serde_json::{Value, json};
use yunti_base::{Code, Error, Result};
use yunti_program::failure::Outcome;

use super::live::Live;
use super::live::said;
use super::pattern::pattern;
use crate::calls::{Call, Row, Table, Threads};
use crate::jvm::{self, Request, Told, Tracer};
use yunti_probe::answer::{self, Answer, Listing};
use yunti_probe::options::{NamedTargetFlags, OutputFlags, duration};
use yunti_probe::stopping::{End, PULSE, Stopping, Watched};
use yunti_probe::target::{Process, Start, Target, label};

/// How long calls of Java methods take, live, as trees of who calls whom
///
/// The methods are changed in the running JVM, and changed back at the end: nothing is restarted.
#[derive(Debug, Args)]
pub struct TraceFlags {
    /// Methods: Cart.total, com.shop.Cart.total, Cart.<init>, com.shop.Cart.*, com.shop.** (all below); of the JDK by their full names
    #[arg(value_name = "METHOD", required = true, value_parser = pattern)]
    methods: Vec<String>,
    #[command(flatten)]
    target: NamedTargetFlags,
    #[command(flatten)]
    pub output: OutputFlags,
    /// Arguments and results as texts, by toString of the program itself
    #[arg(long)]
    args: bool,
    /// Only outermost calls that take at least so long, with all that they call
    #[arg(long, value_name = "TIME", default_value = "0s", value_parser = duration)]
    over: Duration,
    /// Calls a second that are told at most; the others are counted as lost
    #[arg(long, value_name = "N", default_value = "10000", value_parser = clap::value_parser!(u64).range(1..=100_000_000))]
    max_calls: u64,
}

/// Rows of the table that a terminal has.
const ROWS_SHOWN: usize = 60;
/// Outermost calls that are kept: those that took longest.
const LONGEST: usize = 50;
/// With more calls within it, one is kept without them.
const KEPT_MAX: usize = 1_000;

/// What was seen.
pub struct Seen {
    pub process: String,
    pub pid: u32,
    pub methods: Vec<String>,
    pub over: Duration,
    pub skips: Vec<String>,
    pub lost: u64,
    pub table: Table,
    /// With the threads that they were in, the longest first.
    pub longest: Vec<(String, Call)>,
}

pub fn trace(flags: &TraceFlags) -> Outcome {
    let mut stopping = Stopping::new()?;
    let target = flags.target.find(Start::Running)?;
    let mut live = Live::new(!flags.output.answer.json);
    let (mut seen, watched) = look(flags, &target, &mut stopping, &mut live)?;
    seen.table.sort();
    if !flags.output.answer.json {
        live.outcome?;
    }
    let mut answer = Answer::new("trace", &target.process);
    answer.watched(&watched);
    tell(&seen, &mut answer);
    answer.give(&flags.output.answer, watched.end, facts(&seen))
}

fn look(flags: &TraceFlags, target: &Target, stopping: &mut Stopping, live: &mut Live) -> Result<(Seen, Watched)> {
    let process = &target.process;
    if !jvm::recognise(target)? {
        if !process.is_alive() {
            return Err(process.has_ended());
        }
        let error = Error::new(Code::Usage, format!("process {} ({}) is no JVM", process.pid, process.name));
        return Err(error.hint("of other processes there is `yunti observe flame`"));
    }
    let request = Request {
        methods: flags.methods.clone(),
        with_texts: flags.args,
        over: flags.over,
        calls_max: flags.max_calls,
        time: flags.output.seconds,
        waits: target.is_ours(),
    };
    let mut seen = Seen::of(process, flags.over);
    let mut threads = Threads::default();
    let mut tracer = Tracer::start(process, &request)?;
    tracer.wait_until_ready(|it| seen.take(it, &mut threads, live))?;
    if !request.waits {
        seen.expect_methods()?;
    }
    // Whoever waits for it, a script too, may go on.
    eprintln!("tracing {} methods of {} {}; ctrl-C ends it", seen.methods.len(), seen.process, seen.pid);
    let mut outcome = Ok(true);
    let watched = stopping.wait(process, flags.output.seconds, PULSE, || {
        if outcome.is_ok() {
            outcome = tracer.read(|it| seen.take(it, &mut threads, live));
        }
        live.pass();
        outcome.is_ok() && live.outcome.is_ok()
    });
    outcome?;
    tracer.stop(|it| seen.take(it, &mut threads, live))?;
    threads.finish(|thread, call| seen.add(thread, call, live));
    live.end();
    // A process that has ended has told of nothing that did not come.
    if watched.end != End::TargetGone {
        seen.expect_methods()?;
    }
    Ok((seen, watched))
}

impl Seen {
    fn of(process: &Process, over: Duration) -> Seen {
        Seen {
            process: label(process),
            pid: process.pid,
            methods: Vec::new(),
            over,
            skips: Vec::new(),
            lost: 0,
            table: Table::default(),
            longest: Vec::new(),
        }
    }

    fn expect_methods(&self) -> Result<()> {
        if self.methods.is_empty() {
            let error = Error::new(Code::Input, "nothing of what is named can be traced");
            return Err(error.hint(self.skips.join("; ")));
        }
        Ok(())
    }

    fn take(&mut self, told: Told, threads: &mut Threads, live: &mut Live) {
        match told {
            Told::Method(number, name) => {
                let at = number as usize;
                self.methods.resize(self.methods.len().max(at + 1), String::new());
                self.methods[at] = name;
            }
            Told::Skip(text) => self.skips.push(text),
            Told::Lost(calls) => self.lost = calls,
            Told::Calls(chunk) => threads.add(chunk, |thread, call| self.add(thread, call, live)),
            _ => {}
        }
    }

    /// An outermost call.
    fn add(&mut self, thread: &str, mut call: Call, live: &mut Live) {
        live.show(thread, &call, |method| self.short_name(method));
        self.table.add(&call);
        let at = self.longest.partition_point(|(_, other)| other.nanos >= call.nanos);
        if at < LONGEST {
            if call.count() > KEPT_MAX {
                call.calls.clear();
            }
            self.longest.insert(at, (thread.to_owned(), call));
            self.longest.truncate(LONGEST);
        }
    }

    pub fn name(&self, method: u32) -> &str {
        self.methods.get(method as usize).map_or("?", |name| name)
    }

    /// Without the package.
    pub fn short_name(&self, method: u32) -> &str {
        let name = self.name(method);
        let class = name.rfind('.').unwrap_or(0);
        name[..class].rfind('.').map_or(name, |at| &name[at + 1..])
    }

    pub fn calls(&self) -> u64 {
        let mut calls = 0;
        self.table.each(|_, row| calls += row.durations.count);
        calls
    }
}

fn tell(seen: &Seen, answer: &mut Answer) {
    answer.lead = format!("{} calls of {} methods", seen.calls(), seen.methods.len());
    answer.skips.extend(seen.skips.iter().cloned());
    answer.missing(seen.lost, |n| {
        format!("{n} calls, lost and counted nowhere below: take fewer methods, or a higher --max-calls")
    });
    if seen.table.rows.is_empty() {
        answer.notes.push("No call was seen in this time.".to_owned());
    }
    let mut rows = Vec::new();
    seen.table.each(|level, row| {
        let durations = &row.durations;
        let times =
            [row.total, row.own, durations.mean(), durations.percentile(50), durations.percentile(99), durations.max];
        let mut cells = vec![durations.count.to_string()];
        cells.extend(times.map(answer::time));
        cells.extend([row.thrown, row.running].map(|n| n.to_string()));
        cells.push(format!("{}{}", "  ".repeat(level), seen.name(row.method)));
        rows.push(cells);
    });
    let columns = ["calls", "total", "own", "mean", "p50", "p99", "max", "thrown", "running"];
    answer.tables.push(answer::Table {
        title: "Who called whom: calls below their callers; what is called from two stands in two places".to_owned(),
        columns: columns.into_iter().map(|name| (name, true)).chain([("method", false)]).collect(),
        rows,
        shown: ROWS_SHOWN,
    });
    let longest = seen.longest.iter().map(|(thread, call)| {
        let head =
            format!("{}: {} [{thread}]", answer::time(call.nanos), said(call, &|method| seen.short_name(method)));
        let mut lines = Vec::new();
        indented(seen, call, 0, &mut lines);
        (head, lines)
    });
    answer.listings.push(Listing { title: "The calls that took longest".to_owned(), of: longest.collect() });
}

fn indented(seen: &Seen, call: &Call, level: usize, to: &mut Vec<String>) {
    to.push(format!("{}{}  {}", "  ".repeat(level), answer::time(call.nanos), said(call, &|method| seen.name(method))));
    call.calls.iter().for_each(|call| indented(seen, call, level + 1, to));
}

fn facts(seen: &Seen) -> Value {
    json!({
        "over_ns": seen.over.as_nanos() as u64,
        "methods": seen.methods,
        "lost": seen.lost,
        "tree": seen.table.rows.iter().map(|row| row_as_json(seen, row)).collect::<Vec<_>>(),
        "longest": seen.longest.iter().map(|(thread, call)| {
            let mut json = call_as_json(seen, call);
            json["thread"] = json!(thread);
            json
        }).collect::<Vec<_>>(),
    })
}

fn row_as_json(seen: &Seen, row: &Row) -> Value {
    json!({
        "method": seen.name(row.method),
        "calls": row.durations.count,
        "running": row.running,
        "exceptions": row.thrown,
        "total_ns": row.total,
        "own_ns": row.own,
        "mean_ns": row.durations.mean(),
        "p50_ns": row.durations.percentile(50),
        "p99_ns": row.durations.percentile(99),
        "max_ns": row.durations.max,
        "callees": row.callees.iter().map(|row| row_as_json(seen, row)).collect::<Vec<_>>(),
    })
}

fn call_as_json(seen: &Seen, call: &Call) -> Value {
    let mut json = json!({
        "method": seen.name(call.method),
        "ns": call.nanos,
        "thrown": call.has_thrown,
        "running": call.is_running,
        "calls": call.calls.iter().map(|call| call_as_json(seen, call)).collect::<Vec<_>>(),
    });
    if let Some((arguments, result)) = &call.texts {
        json["arguments"] = json!(arguments);
        json[if call.has_thrown { "exception" } else { "result" }] = json!(result);
    }
    json
}
