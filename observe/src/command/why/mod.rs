//! `yunti observe why`: the cause that bounds a process, in one sentence.

mod details;
mod graph;
mod requests;

use std::time::Instant;

use clap::Args;
use serde_json::{Value, json};
use yunti_program::failure::Outcome;

use crate::jvm;
use crate::jvm::HELD;
use crate::runtime::event_loop::EventLoop;
use crate::runtime::node;
use crate::why::{Facts, Finding, Verdict, Waiting, growth_notes, verdict, watch};
use yunti_probe::answer::{self, Answer, Table};
use yunti_probe::options::{OutputFlags, TargetFlags};
use yunti_probe::stopping::{End, Stopping};
use yunti_probe::target::DISK_WAITS;

/// Name what bounds a process in one sentence: the resource, its holder, the place, and the change that would help
///
/// Prints `nothing is wrong` if no resource holds the process back. Many cheap measurements run at the same time first.
/// A closer measurement of three seconds follows for each suspected cause.
#[derive(Debug, Args)]
pub struct WhyFlags {
    #[command(flatten)]
    target: TargetFlags,
    #[command(flatten)]
    pub output: OutputFlags,
    /// Open no inspector in a Node.js process, whose JavaScript has no names then
    #[arg(long)]
    no_inspector: bool,
}

const METHODS_SHOWN: usize = 8;

pub fn why(flags: &WhyFlags) -> Outcome {
    let mut stopping = Stopping::new()?;
    let target = flags.target.find(HELD)?;
    let process = &target.process;
    let is_jvm = jvm::recognise(&target)?;
    let mut answer = Answer::new("why", process);
    let (mut facts, watched) =
        watch(&target, is_jvm, flags.output.seconds, !flags.no_inspector, &mut stopping, &mut answer)?;
    let closer = Instant::now();
    match watched.end {
        End::TimeOver => facts.details = details::measure(process, &facts, &mut stopping, &mut answer),
        End::TargetGone if details::needs_details(&facts) => answer.notes.push(
            "The process ended before the closer measurement. Choose a time (-s) of less than half its running time."
                .to_owned(),
        ),
        _ => {}
    }
    let closer = closer.elapsed();
    let verdict = verdict(&facts);
    answer.watched_twice(&watched, closer);
    render(&facts, &verdict, &mut answer);
    answer.give(&flags.output.answer, watched.end, to_json(&facts, &verdict.causes))
}

fn render(facts: &Facts, verdict: &Verdict, answer: &mut Answer) {
    let found = &verdict.causes;
    answer.lead = verdict.sentence.clone();
    for (i, finding) in found.iter().enumerate() {
        if i > 0 {
            answer.notes.push(format!("Also: {}", finding.sentence));
        }
        answer.notes.push(format!("What would help: {}.", finding.cure));
        let rows = finding.evidence.iter().filter(|line| !line.is_empty()).map(|line| vec![line.clone()]);
        answer.tables.push(Table {
            title: format!("{}: some {:.0} % of the time", finding.cause, finding.cost * 100.0),
            columns: vec![("evidence", false)],
            rows: rows.collect(),
            shown: 20,
        });
    }
    answer.notes.extend(growth_notes(facts));
    let used = facts.cpu_seconds() / facts.seconds.max(0.001);
    let per_second = |n: f64| n / facts.seconds.max(0.001);
    let row = |what: &str, value: String| vec![what.to_owned(), value];
    let mut rows = vec![
        row("processors used", format!("{used:.2} of {:.2}", facts.processors)),
        row(
            "ready, waiting for a processor",
            format!("{:.2} threads", facts.queued_seconds / facts.seconds.max(0.001)),
        ),
        row("page faults", format!("{:.0} per second", per_second(facts.faults))),
        row("page faults that read a disk", format!("{:.0} per second", per_second(facts.faults_with_io))),
        row("context switches", format!("{:.0} per second", per_second(facts.switches))),
    ];
    if let Some(runtime) = &facts.runtime {
        rows.push(row("runtime", runtime.clone()));
    }
    for (waiting, name) in WAITS {
        let threads = facts.threads_waiting(waiting);
        if threads > 0.005 {
            let place = facts.waits_in(waiting).map_or_else(String::new, |(place, _)| format!(", mostly in {place}"));
            rows.push(row(name, format!("{threads:.2} threads{place}")));
        }
    }
    for (wait, name) in DISK_WAITS {
        let threads = facts.disk_threads(&[wait]);
        if threads > 0.005 {
            rows.push(row(&format!("in the kernel: {name}"), format!("{threads:.2} threads")));
        }
    }
    if let Some(heap) = &facts.heap {
        let rate = heap.young_collections / facts.seconds.max(0.001);
        rows.push(row(
            "garbage collection",
            format!("{:.1} % of the time in pauses, {rate:.1} per second", heap.pause_share * 100.0),
        ));
    }
    if let Some(go) = &facts.go {
        rows.push(row(
            "goroutines",
            format!("{:.0}; {:.2} ready, {:.2} running", go.goroutines, go.runnable, go.running),
        ));
        rows.push(row(
            "garbage collection by Go",
            format!("{:.1} per second, {} live", per_second(go.collections), answer::bytes(go.live_bytes)),
        ));
    }
    if let Some(event_loop) = &facts.event_loop {
        rows.extend(loop_rows(event_loop).into_iter().map(|(what, value)| row(what, value)));
        if event_loop.was_opened {
            answer.notes.push(node::OPENED.to_owned());
        }
    }
    answer.tables.push(Table {
        title: "Averages".to_owned(),
        columns: vec![("", false), ("", false)],
        rows,
        shown: 30,
    });
    answer.tables.extend(requests::tables(facts));
    let (graph, tree) = graph::of(facts, found.first());
    let all = tree.total();
    let hot = tree.hottest().into_iter().map(|hot| {
        vec![
            answer::percent(hot.own, all),
            answer::percent(hot.total, all),
            hot.frame.kind.name().to_owned(),
            hot.frame.name.to_string(),
        ]
    });
    answer.tables.push(Table {
        title: "Processor time, by function".to_owned(),
        columns: vec![("own", true), ("total", true), ("kind", false), ("frame", false)],
        rows: hot.collect(),
        shown: METHODS_SHOWN,
    });
    answer.graph = graph;
}

fn loop_rows(event_loop: &EventLoop) -> Vec<(&'static str, String)> {
    let mut rows = vec![("runtime", event_loop.runtime.clone())];
    let Some(profile) = &event_loop.profile else { return rows };
    let share = |share: f64| format!("{:.1} % of the time", share * 100.0);
    rows.extend(profile.utilisation.map(|busy| ("event loop busy", share(busy))));
    rows.push(("V8's garbage collector", share(profile.collecting)));
    rows.push(("longest time without a return to the event loop", format!("{:.0} ms", profile.stall_ms_max)));
    if let Some(heap) = profile.heap {
        let [least, most, limit] = [heap.used_min, heap.used_max, heap.limit].map(|bytes| answer::bytes(bytes as u64));
        rows.push(("heap of JavaScript", format!("{least} to {most} of at most {limit}, {} contexts", heap.contexts)));
    }
    rows
}

const WAITS: [(Waiting, &str); 10] = [
    (Waiting::Not, "running, or ready to"),
    (Waiting::Lock, "waiting for locks"),
    (Waiting::Resource, "waiting for what others use"),
    (Waiting::Result, "waiting for other threads"),
    (Waiting::Network, "waiting for peers"),
    (Waiting::NameService, "waiting for addresses of names"),
    (Waiting::File, "waiting for files"),
    (Waiting::Idle, "without work"),
    (Waiting::Sleep, "asleep"),
    (Waiting::Unknown, "waiting for something else"),
];

fn loop_to_json(event_loop: &EventLoop) -> Value {
    let profile = event_loop.profile.as_ref();
    json!({
        "runtime": event_loop.runtime,
        "thread": event_loop.tid,
        "inspector_was_opened": event_loop.was_opened,
        "utilisation": profile.and_then(|profile| profile.utilisation),
        "collecting_share": profile.map(|profile| profile.collecting),
        "stall_ms_max": profile.map(|profile| profile.stall_ms_max),
        "heap": profile.and_then(|profile| profile.heap).map(|heap| json!({
            "used_bytes_min": heap.used_min,
            "used_bytes_max": heap.used_max,
            "limit_bytes": heap.limit,
            "contexts": heap.contexts,
        })),
        "sync_calls": profile.map(|profile| profile.sync_calls.iter().map(|call| json!({
            "function": &*call.name,
            "caller": &*call.caller,
            "share": call.share,
            "longest_ms": call.longest_ms,
        })).collect::<Vec<_>>()),
    })
}

fn to_json(facts: &Facts, found: &[Finding]) -> Value {
    json!({
        "causes": found.iter().map(|finding| json!({
            "cause": finding.cause,
            "cost": finding.cost,
            "sentence": finding.sentence,
            "evidence": finding.evidence,
            "cure": finding.cure,
        })).collect::<Vec<_>>(),
        "runtime": facts.runtime,
        "processors": facts.processors,
        "cpu_seconds": facts.cpu_seconds(),
        "queued_seconds": facts.queued_seconds,
        "faults": facts.faults,
        "context_switches": facts.switches,
        "mappings": facts.mappings,
        "gc_threads": facts.gc_threads,
        "gc_pause_share": facts.heap.as_ref().map(|heap| heap.pause_share),
        "throttled_periods": facts.throttling.throttled_periods,
        "threads": WAITS
            .iter()
            .map(|(waiting, name)| ((*name).to_owned(), json!(facts.threads_waiting(*waiting))))
            .collect::<serde_json::Map<_, _>>(),
        "disk_waits": DISK_WAITS
            .iter()
            .map(|(wait, name)| ((*name).to_owned(), json!(facts.disk_threads(&[*wait]))))
            .collect::<serde_json::Map<_, _>>(),
        "listen_overflows": facts.connections.overflows,
        "hottest": facts.hottest().map(|(name, share)| json!({"function": &*name, "share": share})),
        "peers": facts.peers,
        "requests": requests::to_json(facts),
        "go": facts.go.as_ref().map(|go| json!({
            "version": go.version,
            "gomaxprocs": go.processors,
            "goroutines": go.goroutines,
            "runnable": go.runnable,
            "running": go.running,
            "gc_percent": go.gc_percent,
            "memory_limit": go.memory_limit,
            "heap_bytes": go.heap_bytes,
            "live_bytes": go.live_bytes,
            "collections": go.collections,
            "pause_seconds": go.pause_seconds,
        })),
        "event_loop": facts.event_loop.as_ref().map(loop_to_json),
        "others": facts.others.iter().map(|other| (other.name(), other.seconds)).collect::<Vec<_>>(),
        "growth": growth_notes(facts),
    })
}
