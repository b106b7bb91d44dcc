//! `yunti observe trace`: durations and call trees of Java methods in a running program.

use std::time::Duration;

use clap::Args;
use serde_json::{Value, json};
use yunti_base::{Code, Error, Result};
use yunti_program::failure::Outcome;

use super::live::Live;
use super::live::call_text;
use super::pattern::pattern;
use crate::calls::{Call, Row, Table, Threads};
use crate::jvm::{self, Message, Request, Tracer};
use yunti_probe::answer::{self, Answer, Listing};
use yunti_probe::options::{NamedTargetFlags, OutputFlags, duration};
use yunti_probe::stopping::{End, PULSE, Stopping, Watched};
use yunti_probe::target::{Process, Start, Target, label};

/// Trace calls of Java methods: durations and call trees, live
///
/// The methods are changed in the running JVM and changed back at the end, without a restart.
#[derive(Debug, Args)]
pub struct TraceFlags {
    /// Trace Cart.total, com.shop.Cart.total, Cart.<init>, com.shop.Cart.*,
    /// com.shop.** (all below); JDK classes by full name
    #[arg(value_name = "METHOD", required = true, value_parser = pattern)]
    methods: Vec<String>,
    #[command(flatten)]
    target: NamedTargetFlags,
    #[command(flatten)]
    pub output: OutputFlags,
    /// Show arguments and results as text, by the program's own toString
    #[arg(long)]
    args: bool,
    /// Record only outermost calls of at least this duration, with all their callees
    #[arg(long, value_name = "TIME", default_value = "0s", value_parser = duration)]
    over: Duration,
    /// Record at most N calls per second; count the rest as lost
    #[arg(long, value_name = "N", default_value = "10000")]
    #[arg(value_parser = clap::value_parser!(u64).range(1..=100_000_000))]
    max_calls: u64,
}

/// Rows of the table on a terminal.
const ROWS_SHOWN: usize = 60;
/// Outermost calls kept, the longest ones.
const LONGEST: usize = 50;
/// Calls in a tree above which a kept call loses its callees.
const KEPT_MAX: usize = 1_000;

/// Results of a trace.
pub struct TraceResults {
    pub process: String,
    pub pid: u32,
    pub methods: Vec<String>,
    pub over: Duration,
    pub skips: Vec<String>,
    pub lost: u64,
    pub table: Table,
    /// Outermost calls with their threads' names, by descending duration.
    pub longest: Vec<(String, Call)>,
}

pub fn trace(flags: &TraceFlags) -> Outcome {
    let mut stopping = Stopping::new()?;
    let target = flags.target.find(Start::Running)?;
    let mut live = Live::new(!flags.output.answer.json);
    let (mut results, watched) = measure(flags, &target, &mut stopping, &mut live)?;
    results.table.sort();
    if !flags.output.answer.json {
        live.outcome?;
    }
    let mut answer = Answer::new("trace", &target.process);
    answer.watched(&watched);
    render(&results, &mut answer);
    answer.give(&flags.output.answer, watched.end, facts(&results))
}

fn measure(
    flags: &TraceFlags,
    target: &Target,
    stopping: &mut Stopping,
    live: &mut Live,
) -> Result<(TraceResults, Watched)> {
    let process = &target.process;
    if !jvm::recognise(target)? {
        if !process.is_alive() {
            return Err(process.has_ended());
        }
        let error = Error::new(Code::Usage, format!("process {} ({}) is not a JVM", process.pid, process.name));
        return Err(error.hint("use `yunti observe flame` for other processes"));
    }
    let request = Request {
        methods: flags.methods.clone(),
        with_texts: flags.args,
        over: flags.over,
        calls_max: flags.max_calls,
        time: flags.output.seconds,
        waits: target.is_ours(),
        ..Request::default()
    };
    let mut results = TraceResults::of(process, flags.over);
    let mut threads = Threads::default();
    let mut tracer = Tracer::start(process, &request)?;
    tracer.wait_until_ready(|it| results.add_message(it, &mut threads, live))?;
    if !request.waits {
        results.expect_methods()?;
    }
    // A script that waits for this line may go on.
    eprintln!("tracing {} methods of {} {}; ctrl-C ends it", results.methods.len(), results.process, results.pid);
    let mut outcome = Ok(true);
    let watched = stopping.wait(process, flags.output.seconds, PULSE, || {
        if outcome.is_ok() {
            outcome = tracer.read(|it| results.add_message(it, &mut threads, live));
        }
        live.pass();
        outcome.is_ok() && live.outcome.is_ok()
    });
    outcome?;
    tracer.stop(|it| results.add_message(it, &mut threads, live))?;
    threads.finish(|thread, call| results.add(thread, call, live));
    live.end();
    // A process that has ended may have loaded none of the classes.
    if watched.end != End::TargetGone {
        results.expect_methods()?;
    }
    Ok((results, watched))
}

impl TraceResults {
    fn of(process: &Process, over: Duration) -> TraceResults {
        TraceResults {
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
            let error = Error::new(Code::Input, "none of the named methods can be traced");
            return Err(error.hint(self.skips.join("; ")));
        }
        Ok(())
    }

    fn add_message(&mut self, message: Message, threads: &mut Threads, live: &mut Live) {
        match message {
            Message::Method(number, name) => {
                let at = number as usize;
                self.methods.resize(self.methods.len().max(at + 1), String::new());
                self.methods[at] = name;
            }
            Message::Skip(text) => self.skips.push(text),
            Message::Lost(calls) => self.lost = calls,
            Message::Calls(chunk) => threads.add(chunk, |thread, call| self.add(thread, call, live)),
            _ => {}
        }
    }

    /// Adds an outermost call.
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

    /// Returns a method's name without the package.
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

fn render(results: &TraceResults, answer: &mut Answer) {
    answer.lead = format!("{} calls of {} methods", results.calls(), results.methods.len());
    answer.skips.extend(results.skips.iter().cloned());
    answer.missing(results.lost, |n| {
        format!("{n} lost calls, excluded from all tables: trace fewer methods, or take a higher --max-calls")
    });
    if results.table.rows.is_empty() {
        answer.notes.push("No call occurred in this time.".to_owned());
    }
    let mut rows = Vec::new();
    results.table.each(|level, row| {
        let durations = &row.durations;
        let times =
            [row.total, row.own, durations.mean(), durations.percentile(50), durations.percentile(99), durations.max];
        let mut cells = vec![durations.count.to_string()];
        cells.extend(times.map(answer::time));
        cells.extend([row.thrown, row.running].map(|n| n.to_string()));
        cells.push(format!("{}{}", "  ".repeat(level), results.name(row.method)));
        rows.push(cells);
    });
    let columns = ["calls", "total", "own", "mean", "p50", "p99", "max", "thrown", "running"];
    answer.tables.push(answer::Table {
        title: "Call tree: callees below their callers, once per caller".to_owned(),
        columns: columns.into_iter().map(|name| (name, true)).chain([("method", false)]).collect(),
        rows,
        shown: ROWS_SHOWN,
    });
    let longest = results.longest.iter().map(|(thread, call)| {
        let head = format!(
            "{}: {} [{thread}]",
            answer::time(call.nanos),
            call_text(call, &|method| results.short_name(method))
        );
        let mut lines = Vec::new();
        indented(results, call, 0, &mut lines);
        (head, lines)
    });
    answer.listings.push(Listing { title: "Longest calls".to_owned(), of: longest.collect() });
}

fn indented(results: &TraceResults, call: &Call, level: usize, to: &mut Vec<String>) {
    to.push(format!(
        "{}{}  {}",
        "  ".repeat(level),
        answer::time(call.nanos),
        call_text(call, &|method| results.name(method))
    ));
    call.calls.iter().for_each(|call| indented(results, call, level + 1, to));
}

fn facts(results: &TraceResults) -> Value {
    json!({
        "over_ns": results.over.as_nanos() as u64,
        "methods": results.methods,
        "lost": results.lost,
        "tree": results.table.rows.iter().map(|row| row_as_json(results, row)).collect::<Vec<_>>(),
        "longest": results.longest.iter().map(|(thread, call)| {
            let mut json = call_as_json(results, call);
            json["thread"] = json!(thread);
            json
        }).collect::<Vec<_>>(),
    })
}

fn row_as_json(results: &TraceResults, row: &Row) -> Value {
    json!({
        "method": results.name(row.method),
        "calls": row.durations.count,
        "running": row.running,
        "exceptions": row.thrown,
        "total_ns": row.total,
        "own_ns": row.own,
        "mean_ns": row.durations.mean(),
        "p50_ns": row.durations.percentile(50),
        "p99_ns": row.durations.percentile(99),
        "max_ns": row.durations.max,
        "callees": row.callees.iter().map(|row| row_as_json(results, row)).collect::<Vec<_>>(),
    })
}

fn call_as_json(results: &TraceResults, call: &Call) -> Value {
    let mut json = json!({
        "method": results.name(call.method),
        "ns": call.nanos,
        "thrown": call.has_thrown,
        "running": call.is_running,
        "calls": call.calls.iter().map(|call| call_as_json(results, call)).collect::<Vec<_>>(),
    });
    if let Some((arguments, result)) = &call.texts {
        json["arguments"] = json!(arguments);
        json[if call.has_thrown { "exception" } else { "result" }] = json!(result);
    }
    json
}
