//! `yunti observe native`: each call of a native function or of the system, each passing of a tracepoint, and who made it.

mod seen;
mod signature;
mod what;

use std::collections::HashMap;
use std::time::Duration;

use clap::Args;
use serde_json::{Value, json};
use yunti_base::Result;
use yunti_program::failure::Outcome;
use yunti_program::terminal::stdout;

use crate::capture::{Ask, Capture, Stacks};
use crate::jvm;
use crate::jvm::HELD;
use seen::{Gathering, Sum};
use what::{Watch, error_name};
use yunti_probe::answer::{self, Answer, Graph, Table};
use yunti_probe::kernel::{Hit, Hits};
use yunti_probe::options::{NamedTargetFlags, OutputFlags, duration};
use yunti_probe::stack::{Frame, Kind, Tree};
use yunti_probe::stopping::{PULSE, Stopping, Watched};
use yunti_probe::target::{Target, label};

/// Each call of a native function, of the system, each passing of a tracepoint: arguments, duration, and the Java and native stack that made it
///
/// WHAT is a function (getaddrinfo, libc:malloc, ns::function, SSL_*), a system call (sys:connect) or a tracepoint of the kernel
/// (trace:sched_switch). Arguments of many are known; of others they are said: 'open(s,x)=d' with d int, l long, u size, x hex, s text,
/// a socket address.
#[derive(Debug, Args)]
pub struct NativeFlags {
    /// What is watched
    #[arg(value_name = "WHAT", required = true)]
    what: Vec<String>,
    #[command(flatten)]
    target: NamedTargetFlags,
    #[command(flatten)]
    pub output: OutputFlags,
    /// Print each call when it ends
    #[arg(long, conflicts_with = "json")]
    live: bool,
    /// Only calls of at least this duration are told one by one and in stacks; all are counted
    #[arg(long, value_name = "DURATION", default_value = "0s", value_parser = duration)]
    over: Duration,
    /// Stacks a second that are taken; calls beyond are counted without
    #[arg(long, value_name = "N", default_value = "2000")]
    stacks: u32,
}

/// Hits a second at which watching costs a tenth of a processor and more.
const DEAR_HITS_PER_SECOND: f64 = 50_000.0;
/// Functions that programs call all the time.
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
    let target = flags.target.find(HELD)?;
    let process = &target.process;
    let is_jvm = jvm::recognise(&target)?;
    let watches = what::watches(process, &flags.what)?;
    let mut answer = Answer::new("native", process);
    warn(&watches);
    let mut seen = look(flags, &target, is_jvm, &watches, &mut stopping)?;
    answer.watched(&seen.watched);
    tell(flags, &watches, &mut seen, &mut answer);
    answer.give(&flags.output.answer, seen.watched.end, facts(&watches, &seen))
}

fn warn(watches: &[Watch]) {
    let is_hot = |watch: &&Watch| HOT.contains(&watch.name.rsplit(':').next().unwrap_or_default());
    let hot: Vec<&str> = watches.iter().filter(is_hot).map(|watch| watch.name.as_str()).collect();
    if !hot.is_empty() {
        eprintln!(
            "WARNING {}: called all the time, and each watched call costs the process some microseconds; it may run many times slower while it is looked at",
            hot.join(", ")
        );
    }
}

struct Seen {
    watched: Watched,
    gathering: Gathering,
    /// By watch: hits that have a stack.
    with_stack: Vec<u64>,
    stacks: Stacks,
    lost: u64,
    stacks_left_away: u64,
}

fn look(
    flags: &NativeFlags,
    target: &Target,
    is_jvm: bool,
    watches: &[Watch],
    stopping: &mut Stopping,
) -> Result<Seen> {
    let process = &target.process;
    let time = flags.output.seconds;
    let mut capture = Capture::of(process, is_jvm, time)?;
    let probes: Vec<_> = watches.iter().map(|watch| watch.probe.clone()).collect();
    let mut at_work = Hits::start(process, &probes, capture.events(), flags.stacks)?;
    // Whoever waits for it, a script too, may go on.
    eprintln!("watching {} places of {} {}; ctrl-C ends it", watches.len(), label(process), process.pid);
    target.go()?;
    let mut live = Live { is_wanted: flags.live, outcome: Ok(()) };
    let mut gathering = Gathering::of(watches);
    let mut add = |hit: Hit, capture: &mut Capture, live: &mut Live| {
        let (watch, is_long) = (&watches[hit.probe], is_long(flags, &hit));
        let time_ns = hit.stack_time_ns(watch.is_system_call());
        capture.asked(Ask { tid: hit.tid, tid_inside: hit.tid_inside, number: hit.stack, time_ns });
        if is_long {
            live.show(watch, &hit);
        }
        gathering.add(watch, hit, is_long);
    };
    let mut take = |at_work: &mut Hits, capture: &mut Capture, live: &mut Live| {
        at_work.collect().into_iter().for_each(|hit| add(hit, capture, live));
        capture.collect();
        live.outcome.is_ok()
    };
    let watched = stopping.wait(process, time, PULSE, || take(&mut at_work, &mut capture, &mut live));
    at_work.detach();
    take(&mut at_work, &mut capture, &mut live);
    live.is_wanted = false;
    at_work.open_calls().into_iter().for_each(|hit| add(hit, &mut capture, &mut live));
    let account = at_work.account();
    for (sum, hits) in gathering.sums.iter_mut().zip(at_work.counts()) {
        sum.hits = hits;
    }
    let stacks = capture.finish()?;
    let mut with_stack = vec![0; watches.len()];
    for way in gathering.ways.iter().filter(|way| stacks.get(way.tid, way.stack).is_some()) {
        with_stack[way.probe] += 1;
    }
    let (lost, stacks_left_away) = (account.lost, account.stacks_left_away);
    Ok(Seen { watched, gathering, with_stack, stacks, lost, stacks_left_away })
}

fn is_long(flags: &NativeFlags, hit: &Hit) -> bool {
    hit.duration_ns.map_or(flags.over.is_zero(), |ns| u128::from(ns) >= flags.over.as_nanos())
}

/// Calls on the terminal when they end.
struct Live {
    is_wanted: bool,
    /// The reader has gone.
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
        // Texts of the target are no commands to a terminal.
        self.outcome = stdout::print(&(line.replace(|c: char| c.is_control(), " ") + "\n"));
    }
}

/// By how often, the most first.
fn errors(sum: &Sum) -> Vec<(String, u64)> {
    let mut errors: Vec<_> = sum.errors.iter().map(|(errno, n)| (error_name(*errno), *n)).collect();
    errors.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    errors
}

/// Ways of calls, the dearest first: by time where calls have an end, else by how many.
fn tree(watches: &[Watch], seen: &Seen) -> (Tree, bool) {
    let by_time = watches.iter().all(Watch::has_end);
    let mut tree = Tree::default();
    for way in seen.gathering.ways.iter().filter(|way| way.is_long) {
        let Some(frames) = seen.stacks.get(way.tid, way.stack) else { continue };
        let leaf = Frame { name: watches[way.probe].name.as_str().into(), kind: Kind::Native };
        // A function is its own innermost frame, under whichever of its names.
        let is_there =
            |frame: &Frame| matches!(frame.kind, Kind::Native | Kind::Jvm) && watches[way.probe].is_function();
        let callers = frames.len() - usize::from(frames.last().is_some_and(is_there));
        let value = if by_time { way.duration_ns } else { 1 };
        tree.add(frames[..callers].iter().chain([&leaf]), value);
    }
    (tree, by_time)
}

/// What of a watch is not known.
fn tell_skips(watches: &[Watch], seen: &Seen, flags: &NativeFlags, answer: &mut Answer) {
    answer.missing(seen.lost, |n| format!("{n} calls one by one: there was no room for them; counts are exact"));
    answer.missing(seen.stacks_left_away, |n| format!("stacks of {n} calls: --stacks {} a second", flags.stacks));
    for (watch, sum) in watches.iter().zip(&seen.gathering.sums).filter(|(_, sum)| sum.hits > 0) {
        let name = &watch.name;
        if watch.is_function() && !watch.has_end() {
            answer.skips.push(format!("durations of {name}: its code does not show where it returns"));
        }
        answer.missing(sum.left_by_jump, |n| {
            format!("results and whole durations of {n} calls of {name}: it leaves by a jump to another function; that long it took until then")
        });
    }
}

fn tell(flags: &NativeFlags, watches: &[Watch], seen: &mut Seen, answer: &mut Answer) {
    answer.skips.append(&mut seen.stacks.skips);
    tell_skips(watches, seen, flags, answer);
    let all = || watches.iter().zip(&seen.gathering.sums);
    let (hits, total): (u64, u64) =
        all().fold((0, 0), |(hits, total), (_, sum)| (hits + sum.hits, total + sum.durations.sum));
    answer.lead = match total {
        0 => format!("{hits} hits"),
        _ => format!("{hits} calls, {} in them", answer::time(total)),
    };
    let rate = hits as f64 / answer.seconds.max(0.001);
    if rate > DEAR_HITS_PER_SECOND {
        answer.notes.push(format!("{rate:.0} hits a second: watching slowed the process down."));
    }
    if all().any(|(_, sum)| sum.without_return > 0) {
        answer
            .notes
            .push("No return: not over yet, or left by an exception, longjmp or a jump through a pointer.".to_owned());
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
    let mut rows: Vec<_> = all().collect();
    rows.sort_by_key(|(_, sum)| std::cmp::Reverse((sum.durations.sum, sum.hits)));
    answer.tables.push(Table {
        title: "What was called".to_owned(),
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
    answer.tables.extend(by_texts(seen));
    let (tree, by_time) = tree(watches, seen);
    let unit = |value: u64| if by_time { answer::time(value) } else { format!("{value} times") };
    answer.listings.push(answer::stacks("Who called", tree.dearest(PATHS), unit));
    let (title, per_second) = if by_time { ("Who called, by time", 1e9) } else { ("Who called, by hits", 0.0) };
    answer.graph = Graph::of(title, tree, per_second);
}

/// Ways of calls that are told whole.
const PATHS: usize = 20;

/// Where arguments are texts or addresses: which, how often, how long.
fn by_texts(seen: &Seen) -> Option<Table> {
    let mut rows: Vec<_> = seen.gathering.by_texts.iter().collect();
    rows.sort_by(|a, b| (b.1.1, b.1.0).cmp(&(a.1.1, a.1.0)).then_with(|| a.0.cmp(b.0)));
    (!rows.is_empty()).then(|| Table {
        title: "By arguments".to_owned(),
        columns: vec![("hits", true), ("total", true), ("call", false)],
        rows: rows.into_iter().map(|(call, (n, ns))| vec![n.to_string(), answer::time(*ns), call.clone()]).collect(),
        shown: 10,
    })
}

fn facts(watches: &[Watch], seen: &Seen) -> Value {
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
    let watched: Vec<Value> = watches.iter().zip(&seen.gathering.sums).zip(&seen.with_stack).map(of_watch).collect();
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
    let calls: Vec<Value> = seen.gathering.calls.iter().map(call).collect();
    json!({ "watched": watched, "calls": calls, "lost": seen.lost, "stacks_left_away": seen.stacks_left_away })
}
