//! `yunti observe native`: calls of native functions and system calls, hits of tracepoints, and their callers.

mod conditions;
mod groups;
mod signature;
mod totals;
mod watch;

use std::collections::HashMap;
use std::time::Duration;

use clap::Args;
use serde_json::{Value, json};
use yunti_base::Result;
use yunti_program::failure::Outcome;
use yunti_program::terminal::stdout;

use crate::capture::{Capture, StackRequest, Stacks};
use crate::jvm;
use crate::jvm::HELD;
use groups::{Groups, Row};
use totals::{Sum, Totals};
use watch::{Watch, error_name};
use yunti_probe::answer::{self, Answer, Graph, Table};
use yunti_probe::condition::Key;
use yunti_probe::kernel::{Hit, Hits};
use yunti_probe::options::{NamedTargetFlags, OutputFlags, duration};
use yunti_probe::stack::{Frame, Kind, Tree};
use yunti_probe::stopping::{PULSE, Stopping, Watched};
use yunti_probe::target::{Process, Target, label};

/// Show calls of native functions, system calls and tracepoints: arguments, duration, and the Java and native stack
///
/// WHAT is a function (getaddrinfo, libc:malloc, ns::function, SSL_*), a system call (sys:connect), a tracepoint
/// (trace:sched_switch) or a function of the kernel (kernel:find_vma). The arguments of many functions are known. Give
/// them for others: 'open(s,x)=d' with d int, l long, u size, x hex, s text, a socket address. Without -p, -n or a
/// command, system calls, tracepoints and kernel functions are watched in all processes.
#[derive(Debug, Args)]
pub struct NativeFlags {
    /// Watch this function, system call or tracepoint
    #[arg(value_name = "WHAT", required = true)]
    what: Vec<String>,
    #[command(flatten)]
    target: NamedTargetFlags,
    #[command(flatten)]
    pub output: OutputFlags,
    /// Print each call when it ends
    #[arg(long, conflicts_with = "json")]
    live: bool,
    /// Show single calls and stacks only for calls of at least this duration; count all
    #[arg(long, value_name = "DURATION", default_value = "0s", value_parser = duration)]
    over: Duration,
    /// Take at most N stacks per second; count further calls without a stack
    #[arg(long, value_name = "N", default_value = "2000")]
    stacks: u32,
    /// Only calls for which this holds: 'arg1 > 4096', 'return < 0 && time > 5ms', '*(u32*)(arg0 + 8) == 7'
    #[arg(long, value_name = "EXPRESSION")]
    when: Option<String>,
    /// Count calls by these values: 'process', 'stack', 'arg1 & 0xfff', 'log2(arg2)', several with commas
    #[arg(long, value_name = "EXPRESSIONS", conflicts_with = "live")]
    count_by: Option<String>,
    /// Also sum this up in each group: 'arg2', 'time'
    #[arg(long, value_name = "EXPRESSION", conflicts_with = "live")]
    sum: Option<String>,
}

/// Hits per second from which on watching costs a tenth of a processor or more.
const DEAR_HITS_PER_SECOND: f64 = 50_000.0;
/// Functions that most programs call all the time.
const HOT: [&str; 12] = [
    "malloc",
    "free",
    "calloc",
    "realloc",
    "memcpy",
    "memmove",
    "memset",
    "strlen",
    "pthread_mutex_lock",
    "pthread_mutex_unlock",
    "_int_malloc",
    "_int_free",
];

pub fn native(flags: &NativeFlags) -> Outcome {
    let mut stopping = Stopping::new()?;
    let is_machine = flags.target.is_empty() && watch::are_shared(&flags.what);
    let target = if is_machine { None } else { Some(flags.target.find(HELD)?) };
    let process = target.as_ref().map(|target| &target.process);
    let is_jvm = target.as_ref().map_or(Ok(false), jvm::recognise)?;
    let mut watches = watch::watches(process, &flags.what)?;
    for watch in &mut watches {
        watch.probe.conditions = conditions::conditions(flags, watch)?;
    }
    let mut answer = match process {
        Some(process) => Answer::new("native", process),
        None => Answer::of_device("native", "all processes".to_owned()),
    };
    warn(&watches);
    let mut results = measure(flags, target.as_ref(), is_jvm, &watches, &mut stopping)?;
    answer.watched(&results.watched);
    render(flags, &watches, &mut results, &mut answer);
    answer.give(&flags.output.answer, results.watched.end, facts(&watches, &results))
}

fn warn(watches: &[Watch]) {
    let is_hot = |watch: &&Watch| HOT.contains(&watch.name.rsplit(':').next().unwrap_or_default());
    let hot: Vec<&str> = watches.iter().filter(is_hot).map(|watch| watch.name.as_str()).collect();
    if !hot.is_empty() {
        eprintln!(
            "WARNING {}: each watched call costs the process some microseconds, and programs call this all the time; \
             it may run many times slower during the measurement",
            hot.join(", ")
        );
    }
}

struct NativeResults<'a> {
    /// Groups of --count-by, and the calls without a place among them.
    groups: Option<Groups<'a>>,
    groups_lost: u64,
    watched: Watched,
    totals: Totals,
    /// Hits with a stack, by watch.
    with_stack: Vec<u64>,
    stacks: Stacks,
    lost: u64,
    stacks_dropped: u64,
}

fn measure<'a>(
    flags: &NativeFlags,
    target: Option<&Target>,
    is_jvm: bool,
    watches: &'a [Watch],
    stopping: &mut Stopping,
) -> Result<NativeResults<'a>> {
    let process = target.map(|target| &target.process);
    let time = flags.output.seconds;
    let only_counts = watches.iter().all(|watch| watch.probe.conditions.only_counts());
    let mut capture = if only_counts { Capture::Nothing } else { Capture::of(process, is_jvm, time)? };
    let stacks_max = if only_counts { 0 } else { flags.stacks };
    let probes: Vec<_> = watches.iter().map(|watch| watch.probe.clone()).collect();
    let mut program = Hits::start(process, &probes, capture.events(), stacks_max)?;
    let whose = process.map_or_else(|| "all processes".to_owned(), |p| format!("{} {}", label(p), p.pid));
    // A script that waits for this line may go on.
    eprintln!("watching {} places of {whose}; ctrl-C ends it", watches.len());
    target.map_or(Ok(()), Target::go)?;
    let mut live = Live { is_wanted: flags.live, outcome: Ok(()) };
    let mut totals = Totals::of(watches);
    let mut add = |hit: Hit, capture: &mut Capture, live: &mut Live| {
        let (watch, is_long) = (&watches[hit.probe], is_long(flags, &hit));
        let time_ns = hit.stack_time_ns(watch.is_system_call() || watch.probe.conditions.needs_end());
        capture.record(StackRequest { tid: hit.tid, tid_inside: hit.tid_inside, number: hit.stack, time_ns });
        if watch.is_undecided(&hit) {
            totals.sums[hit.probe].left_by_jump += u64::from(hit.is_left_by_jump);
            return;
        }
        if is_long {
            live.show(watch, &hit);
        }
        totals.add(watch, hit, is_long);
    };
    let mut collect = |program: &mut Hits, capture: &mut Capture, live: &mut Live| {
        program.collect().into_iter().for_each(|hit| add(hit, capture, live));
        capture.collect();
        live.outcome.is_ok()
    };
    let each = || collect(&mut program, &mut capture, &mut live);
    let watched = match process {
        Some(process) => stopping.wait(process, time, PULSE, each),
        None => stopping.wait_for_time(time, PULSE, each),
    };
    program.detach();
    collect(&mut program, &mut capture, &mut live);
    live.is_wanted = false;
    program.open_calls().into_iter().for_each(|hit| add(hit, &mut capture, &mut live));
    let account = program.account();
    for (sum, hits) in totals.sums.iter_mut().zip(program.counts()) {
        sum.hits = hits;
    }
    let stacks = capture.finish()?;
    let mut with_stack = vec![0; watches.len()];
    for hit in totals.stack_refs.iter().filter(|hit| stacks.get(hit.tid, hit.stack).is_some()) {
        with_stack[hit.probe] += 1;
    }
    let stacks_dropped = if only_counts { 0 } else { account.stacks_dropped };
    let (groups, groups_lost) = program.groups();
    let groups = conditions::is_grouped(flags).then(|| {
        let rows = match conditions::by_stack(flags) {
            true => totals.groups(watches, &stacks),
            false => groups.into_iter().map(|group| Row { group, stack: None }).collect(),
        };
        Groups::new(watches, (conditions::keys(flags), flags.sum.as_deref()), rows, |key, number| {
            named(process, key, number).or_else(|| program.name(number as u32))
        })
    });
    Ok(NativeResults { groups, groups_lost, watched, totals, with_stack, stacks, lost: account.lost, stacks_dropped })
}

/// Returns the name of a process, or of a thread, that has not ended.
fn named(process: Option<&Process>, key: &Key, number: u64) -> Option<String> {
    let file = match (key, process) {
        (Key::Thread, Some(process)) => format!("/proc/{}/task/{number}/comm", process.pid),
        _ => format!("/proc/{number}/comm"),
    };
    let name = std::fs::read_to_string(file).ok()?;
    Some(name.trim_end().to_owned())
}

fn is_long(flags: &NativeFlags, hit: &Hit) -> bool {
    hit.duration_ns.map_or(flags.over.is_zero(), |ns| u128::from(ns) >= flags.over.as_nanos())
}

/// Live output of calls when they end.
struct Live {
    is_wanted: bool,
    /// An error once the reader of the output has gone.
    outcome: Outcome,
}

impl Live {
    fn show(&mut self, watch: &Watch, hit: &Hit) {
        if !self.is_wanted || self.outcome.is_err() {
            return;
        }
        let time = hit.time_ns as f64 / 1e9;
        let took = hit.duration_ns.map_or_else(|| "-".to_owned(), answer::time);
        let result = watch.result(hit).map(|r| format!(" = {r}")).unwrap_or_default();
        let line = format!("{time:.6}  {took:>9}  {} {}  {}{result}", hit.thread, hit.tid, watch.call(hit));
        // The target's text must not control the terminal.
        self.outcome = stdout::print(&(line.replace(|c: char| c.is_control(), " ") + "\n"));
    }
}

/// Returns the error names with their counts, by descending count.
fn errors(sum: &Sum) -> Vec<(String, u64)> {
    let mut errors: Vec<_> = sum.errors.iter().map(|(errno, n)| (error_name(*errno), *n)).collect();
    errors.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    errors
}

/// Returns the call tree, and true if it is weighted by nanoseconds. Without ends it is weighted by hits.
fn tree(watches: &[Watch], results: &NativeResults<'_>) -> (Tree, bool) {
    let by_time = watches.iter().all(Watch::has_end);
    let mut tree = Tree::default();
    for hit in results.totals.stack_refs.iter().filter(|hit| hit.is_long) {
        let Some(frames) = results.stacks.get(hit.tid, hit.stack) else { continue };
        let leaf = Frame { name: watches[hit.probe].name.as_str().into(), kind: Kind::Native };
        // A function is its own innermost frame, under any of its names.
        let is_own_frame =
            |frame: &Frame| matches!(frame.kind, Kind::Native | Kind::Jvm) && watches[hit.probe].is_function();
        let callers = frames.len() - usize::from(frames.last().is_some_and(is_own_frame));
        let value = if by_time { hit.duration_ns } else { 1 };
        let group = results.groups.as_ref().and_then(|groups| groups.frame(hit.probe, &hit.keys));
        tree.add(frames[..callers].iter().chain([&leaf]).chain(&group), value);
    }
    (tree, by_time)
}

/// Adds a skip for each part of the results that is missing.
fn add_skips(watches: &[Watch], results: &NativeResults<'_>, flags: &NativeFlags, answer: &mut Answer) {
    answer.missing(results.lost, |n| format!("{n} single calls: the buffer was full; counts are exact"));
    answer.missing(results.groups_lost, |n| format!("groups of {n} calls: there were too many groups"));
    answer.missing(results.stacks_dropped, |n| format!("stacks of {n} calls: --stacks {} per second", flags.stacks));
    for (watch, sum) in watches.iter().zip(&results.totals.sums).filter(|(_, sum)| sum.hits + sum.left_by_jump > 0) {
        let name = &watch.name;
        if watch.is_function() && !watch.has_end() {
            answer.skips.push(format!("durations of {name}: its return instructions were not found"));
        }
        answer.missing(sum.left_by_jump, |n| {
            format!(
                "results and full durations of {n} calls of {name}: it jumps to another function at its end; \
                 durations end there"
            )
        });
    }
}

fn render(flags: &NativeFlags, watches: &[Watch], results: &mut NativeResults<'_>, answer: &mut Answer) {
    answer.skips.append(&mut results.stacks.skips);
    add_skips(watches, results, flags, answer);
    let all = || watches.iter().zip(&results.totals.sums);
    let (hits, total): (u64, u64) =
        all().fold((0, 0), |(hits, total), (_, sum)| (hits + sum.hits, total + sum.durations.sum));
    answer.lead = match total {
        0 => format!("{hits} hits"),
        _ => format!("{hits} calls, {} in them", answer::time(total)),
    };
    let rate = hits as f64 / answer.seconds.max(0.001);
    if rate > DEAR_HITS_PER_SECOND {
        answer.notes.push(format!("{rate:.0} hits per second: watching slowed the process down."));
    }
    if all().any(|(_, sum)| sum.without_return > 0) {
        answer.notes.push(
            "No return: the call is still running, or it ended by an exception, longjmp or a jump through a pointer."
                .to_owned(),
        );
    }
    let row = |(watch, sum): (&Watch, &Sum)| {
        let has_durations = sum.durations.count > 0;
        let shown = |ns: u64| if has_durations { answer::time(ns) } else { "-".to_owned() };
        let errors: Vec<String> = errors(sum).iter().map(|(name, n)| format!("{n} {name}")).collect();
        vec![
            sum.hits.to_string(),
            shown(sum.durations.sum),
            shown(sum.durations.mean()),
            shown(sum.durations.percentile(50)),
            shown(sum.durations.percentile(99)),
            shown(sum.durations.max),
            sum.without_return.to_string(),
            watch.name.clone(),
            errors.join(", "),
        ]
    };
    answer.tables.extend(results.groups.as_ref().map(Groups::table));
    let mut rows: Vec<_> = all().collect();
    rows.sort_by_key(|(_, sum)| std::cmp::Reverse((sum.durations.sum, sum.hits)));
    answer.tables.push(Table {
        title: "Calls".to_owned(),
        columns: vec![
            ("hits", true),
            ("total", true),
            ("mean", true),
            ("p50", true),
            ("p99", true),
            ("max", true),
            ("no return", true),
            ("what", false),
            ("errors", false),
        ],
        rows: rows.into_iter().map(row).collect(),
        shown: 40,
    });
    for (watch, sum) in all().filter(|(_, sum)| sum.histogram.total() > 0).take(4) {
        answer.tables.push(Table {
            title: format!("Durations of {}", watch.name),
            columns: vec![("from us", true), ("to", true), ("calls", true), ("", false)],
            rows: sum.histogram.rows(),
            shown: 40,
        });
    }
    answer.tables.extend(by_texts(results));
    let (tree, by_time) = tree(watches, results);
    let unit = |value: u64| if by_time { answer::time(value) } else { format!("{value} times") };
    answer.listings.push(answer::stacks("Callers", tree.dearest(PATHS), unit));
    let (title, per_second) = if by_time { ("Callers by time", 1e9) } else { ("Callers by hits", 0.0) };
    answer.graph = Graph::of(title, tree, per_second);
}

/// Call paths listed frame by frame.
const PATHS: usize = 20;

/// Returns a table of calls by arguments, if these are texts or addresses: hits and total time.
fn by_texts(results: &NativeResults<'_>) -> Option<Table> {
    let mut rows: Vec<_> = results.totals.by_texts.iter().collect();
    rows.sort_by(|a, b| (b.1.1, b.1.0).cmp(&(a.1.1, a.1.0)).then_with(|| a.0.cmp(b.0)));
    (!rows.is_empty()).then(|| Table {
        title: "By arguments".to_owned(),
        columns: vec![("hits", true), ("total", true), ("call", false)],
        rows: rows.into_iter().map(|(call, (n, ns))| vec![n.to_string(), answer::time(*ns), call.clone()]).collect(),
        shown: 10,
    })
}

fn facts(watches: &[Watch], results: &NativeResults<'_>) -> Value {
    let of_watch = |((watch, sum), stacks): ((&Watch, &Sum), &u64)| {
        let over = |ns: u64| (sum.durations.count > 0).then_some(ns);
        json!({
            "what": watch.name,
            "hits": sum.hits,
            "stacks": stacks,
            "without_return": sum.without_return,
            "left_by_jump": sum.left_by_jump,
            "total_ns": watch.has_end().then_some(sum.durations.sum),
            "mean_ns": over(sum.durations.mean()),
            "p50_ns": over(sum.durations.percentile(50)),
            "p99_ns": over(sum.durations.percentile(99)),
            "max_ns": over(sum.durations.max),
            "errors": errors(sum).into_iter().collect::<HashMap<_, _>>(),
            "histogram": sum.histogram.to_json(),
        })
    };
    let watched: Vec<Value> = watches.iter().zip(&results.totals.sums).zip(&results.with_stack).map(of_watch).collect();
    let call = |hit: &Hit| {
        let watch = &watches[hit.probe];
        json!({
            "what": watch.name,
            "time_ns": hit.time_ns,
            "duration_ns": hit.duration_ns,
            "thread": hit.thread,
            "tid": hit.tid,
            "call": watch.call(hit),
            "result": watch.result(hit),
        })
    };
    let calls: Vec<Value> = results.totals.calls.iter().map(call).collect();
    let mut facts =
        json!({ "watched": watched, "calls": calls, "lost": results.lost, "stacks_dropped": results.stacks_dropped });
    if let Some(groups) = &results.groups {
        facts["counts"] = groups.to_json();
        facts["groups_lost"] = json!(results.groups_lost);
    }
    facts
}
