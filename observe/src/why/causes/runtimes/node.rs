//! Causes in a Node.js process: V8's garbage collector, and calls that hold the event loop up.

use crate::runtime::event_loop::EventLoop;
use crate::runtime::node::profile::{COLLECTOR, is_of_collector};
use crate::why::causes::finding::{Finding, percent};
use crate::why::facts::Facts;
use yunti_probe::answer;
use yunti_probe::stack::{Frame, Kind};

/// Share of the loop's time in the collector from which on collections count, as for a JVM's pauses.
const COLLECTING_MIN: f64 = 0.1;
/// Share of the heap's limit that is used even after collections, from which on the heap is too small.
const FULL_MIN: f64 = 0.7;
/// Share of the time from which on a loop counts as busy, and the share at which it counts in full.
const BUSY_MIN: f64 = 0.3;
const BUSY: f64 = 0.8;
/// Duration of one synchronous call from which on all other requests feel it, however busy the loop is.
const STALL_MS: f64 = 50.0;
/// Share of the time in synchronous calls from which on they count.
const SYNC_MIN: f64 = 0.15;

/// Share of processor time in collections for one function from which on it is named.
const PLACE_MIN: f64 = 0.05;

/// Returns true if a stack is of the collector.
pub fn collects(frames: &[Frame]) -> bool {
    frames.iter().any(|frame| &*frame.name == COLLECTOR || is_of_collector(&frame.name))
}

/// Returns the share of the time in which the loop does not wait for events.
fn busy(facts: &Facts, event_loop: &EventLoop) -> f64 {
    let reported = event_loop.profile.as_ref().and_then(|profile| profile.utilisation);
    let load = facts.loads.iter().find(|load| load.tid == event_loop.tid);
    let load = load.map_or(0.0, |load| (load.ran_seconds + load.queued_seconds) / facts.seconds.max(0.001));
    reported.unwrap_or(load).clamp(0.0, 1.0)
}

fn weight(busy: f64) -> f64 {
    ((busy - BUSY_MIN) / (BUSY - BUSY_MIN)).clamp(0.0, 1.0)
}

pub fn collections(facts: &Facts) -> Option<Finding> {
    let event_loop = facts.event_loop.as_ref()?;
    let busy = busy(facts, event_loop);
    let profile = event_loop.profile.as_ref();
    // Native stacks show the collector too, of the time on a processor.
    let collecting = facts.cpu_share(collects) * busy;
    let collecting = collecting.max(profile.map_or(0.0, |profile| profile.collecting));
    if collecting < COLLECTING_MIN {
        return None;
    }
    let heap = profile.and_then(|profile| profile.heap);
    // Other threads of V8 collect without JavaScript.
    let in_script = |frames: &[Frame]| collects(frames) && frames.iter().any(|frame| frame.kind == Kind::JavaScript);
    let place = facts.own_function(in_script).filter(|(_, share)| *share >= PLACE_MIN);
    let place = place.map_or_else(String::new, |(name, _)| format!(", above all for {name}"));
    let used = heap.map(|heap| {
        let size = |bytes: f64| answer::bytes(bytes as u64);
        format!("{} to {} used of at most {}", size(heap.used_min), size(heap.used_max), size(heap.limit))
    });
    let full = heap.filter(|heap| heap.used_min >= FULL_MIN * heap.limit);
    let mut evidence =
        vec![format!("V8's collector: {} of the time; the loop is busy {} of it", percent(collecting), percent(busy))];
    evidence.extend(used.as_ref().map(|used| format!("heap: {used}")));
    let bounds = format!(
        "V8's garbage collector bounds it: it takes {} of the event loop's time",
        percent((collecting / busy.max(0.01)).min(1.0))
    );
    let (cause, sentence, cure) = match full {
        Some(heap) => (
            "v8-heap-limit",
            format!(
                "{bounds}, because {} of the heap's limit of {} are in use after collections too.",
                percent(heap.used_min / heap.limit.max(1.0)),
                answer::bytes(heap.limit as u64)
            ),
            "a larger heap (--max-old-space-size, in MiB), if the machine has the memory; if use grows without end, find \
             what is kept (a heap snapshot, caches without a limit, listeners that stay)",
        ),
        None => (
            "v8-gc",
            format!("{bounds}{place}."),
            "allocate less there (no copies of large values, streams instead of whole texts), keep less alive, or a \
             larger young generation (--max-semi-space-size=64, in MiB)",
        ),
    };
    let cost = (collecting / busy.max(0.01)).min(1.0) * weight(busy);
    Some(Finding { cause, cost, sentence, evidence, cure: cure.to_owned() })
}

pub fn sync_calls(facts: &Facts) -> Option<Finding> {
    let event_loop = facts.event_loop.as_ref()?;
    let Some(profile) = &event_loop.profile else { return waits_for_child(facts, event_loop) };
    let all: f64 = profile.sync_calls.iter().map(|call| call.share).sum();
    let first = profile.sync_calls.first()?;
    if all < SYNC_MIN {
        return None;
    }
    let busy = busy(facts, event_loop).max(all).min(1.0);
    let weight = if first.longest_ms >= STALL_MS { 1.0 } else { weight(busy) };
    let evidence = profile.sync_calls.iter().take(5).map(|call| {
        format!(
            "{} in {}: {} of the time, up to {:.0} ms at a time",
            call.name,
            call.caller,
            percent(call.share),
            call.longest_ms
        )
    });
    Some(Finding {
        cause: "sync-call",
        cost: (all / busy.max(0.01)).min(1.0) * weight,
        sentence: format!(
            "A synchronous call holds its event loop up: {} takes {} of the loop's time, called from {}, up to {:.0} ms \
             at a time in which nothing else runs.",
            first.name,
            percent((first.share / busy.max(0.01)).min(1.0)),
            first.caller,
            first.longest_ms
        ),
        evidence: evidence.collect(),
        cure: format!("{}, so that the loop goes on", instead_of(&first.name)),
    })
}

/// Function of Node.js that waits for a child process in `execSync` and the like.
const CHILD: &str = "SyncProcessRunner";

/// Returns the wait for a child process by native stacks: a loop that waits for long answers no inspector.
fn waits_for_child(facts: &Facts, event_loop: &EventLoop) -> Option<Finding> {
    let thread = facts.threads.iter().find(|thread| thread.id == u64::from(event_loop.tid))?;
    let waits = |frames: &[Frame]| frames.iter().any(|frame| frame.name.contains(CHILD));
    let share: f64 = thread.moments.iter().filter(|moment| waits(&moment.frames)).map(|moment| moment.share).sum();
    (share >= SYNC_MIN).then(|| Finding {
        cause: "sync-call",
        cost: share.min(1.0),
        sentence: format!(
            "A synchronous call holds its event loop up: it waits for a child process (execSync, spawnSync) {} of the \
             time.",
            percent(share.min(1.0))
        ),
        evidence: vec!["the loop did not answer its inspector, so the caller has no name".to_owned()],
        cure: "child_process.exec or spawn with a callback or a promise".to_owned(),
    })
}

/// Returns what to use instead of a synchronous function.
fn instead_of(name: &str) -> String {
    let plain = name.strip_suffix("Sync").unwrap_or(name);
    match plain {
        "exec" | "spawn" | "execFile" => format!("child_process.{plain} with a callback or a promise"),
        "processChunk" | "zlibBuffer" => "the asynchronous function of zlib, or a stream".to_owned(),
        _ => format!("the asynchronous {plain}, or a worker thread"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runtime::event_loop::{LoopProfile, ScriptHeap, SyncCall};

    fn facts(profile: LoopProfile) -> Facts {
        let event_loop = EventLoop { tid: 1, profile: Some(profile), ..EventLoop::default() };
        Facts { seconds: 10.0, processors: 4.0, event_loop: Some(event_loop), ..Facts::default() }
    }

    #[test]
    fn collector_by_heap() {
        let of = |used_min: f64, collecting, utilisation| {
            let heap = Some(ScriptHeap { used_min, used_max: 2e9, limit: 2e9, contexts: 1.0 });
            let profile = LoopProfile { utilisation: Some(utilisation), collecting, heap, ..LoopProfile::default() };
            collections(&facts(profile)).map(|found| (found.cause, found.cost > 0.15))
        };
        assert_eq!(of(1.9e9, 0.5, 1.0), Some(("v8-heap-limit", true)));
        assert_eq!(of(0.2e9, 0.5, 1.0), Some(("v8-gc", true)));
        // A service that is hardly busy, and one that hardly collects.
        assert_eq!(of(0.2e9, 0.1, 0.2), Some(("v8-gc", false)));
        assert_eq!(of(0.2e9, 0.05, 1.0), None);
    }

    #[test]
    fn synchronous_calls() {
        let of = |share, longest_ms, utilisation| {
            let call = SyncCall { name: "execSync".into(), caller: "render page.js:7".into(), share, longest_ms };
            let profile =
                LoopProfile { utilisation: Some(utilisation), sync_calls: vec![call], ..LoopProfile::default() };
            sync_calls(&facts(profile)).map_or(0.0, |found| found.cost)
        };
        assert!(of(0.6, 2.0, 0.9) > 0.6 && of(0.2, 300.0, 0.25) > 0.7);
        assert!(of(0.05, 300.0, 0.1) == 0.0 && of(0.2, 2.0, 0.25) < 0.01);
    }
}
