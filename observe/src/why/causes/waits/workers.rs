//! Causes in the workers of executors: all of them held by tasks that wait, while others wait for their results; and
//! carriers held by virtual threads that cannot leave them.

use std::collections::HashMap;
use std::rc::Rc;

use crate::why::account::waiting::{self, Waiting, shown};
use crate::why::causes::finding::{Finding, percent, while_processors_are_free};
use crate::why::causes::waits::pipe::{WRITERS_MIN, writers};
use crate::why::facts::{Facts, ThreadFacts};
use crate::why::requests::PeerRequests;
use yunti_probe::target::DiskWait;

/// Idle share of workers above which they are not the bottleneck.
pub const IDLE_MAX: f64 = 0.15;
/// Share of their time in which they must wait, not compute.
const WAITING_MIN: f64 = 0.5;
/// Threads that wait for results, for each worker, from which on there is a queue.
const RESULTS_FOR_EACH: f64 = 1.5;
/// The same for the common pool of a JVM. It is small by design, and shared by all that use it.
const RESULTS_OF_COMMON: f64 = 0.5;
/// Runtime whose coroutines hand calls that wait to threads, and the idle share of these while calls queue.
const ASYNCIO: &str = "asyncio";
const IDLE_OF_ASYNCIO: f64 = 0.03;
const COMMON_POOL: &str = "ForkJoinPool.commonPool-worker-";
/// Share of the carriers' time in which virtual threads hold them without running.
const PINNED_MIN: f64 = 0.3;

/// Answers outstanding at a time from which on threads that wait for others wait for a peer.
const ANSWERS_MIN: f64 = 0.5;

/// Returns the activity that takes most of the threads' time without idle time: kind, place, share of it.
fn mostly(threads: &[&ThreadFacts]) -> Option<(Waiting, Rc<str>, f64)> {
    let mut places: HashMap<(Waiting, Rc<str>), f64> = HashMap::new();
    let mut kinds: HashMap<Waiting, f64> = HashMap::new();
    for moment in threads.iter().flat_map(|thread| &thread.moments).filter(|moment| moment.waiting != Waiting::Idle) {
        *kinds.entry(moment.waiting).or_default() += moment.share;
        if let Some(frame) = waiting::user_frame(&moment.frames) {
            *places.entry((moment.waiting, frame.name.clone())).or_default() += moment.share;
        }
    }
    let all: f64 = kinds.values().sum();
    let (kind, n) = kinds.into_iter().max_by(|a, b| a.1.total_cmp(&b.1).then(b.0.cmp(&a.0)))?;
    let of_kind = places.into_iter().filter(|((of, _), _)| *of == kind);
    let ((_, place), _) = of_kind.max_by(|a, b| a.1.total_cmp(&b.1).then_with(|| b.0.cmp(&a.0)))?;
    Some((kind, place, n / all.max(1e-9)))
}

/// Name of a peer without a known address.
pub const UNKNOWN_PEER: &str = "a peer";

/// Returns the peer that threads wait for most: `postgres 4711 at 127.0.0.1:5432`.
pub fn peer(facts: &Facts) -> String {
    let first = facts.peers.first().map(|(peer, _)| peer);
    let known = facts.requests.outbound.iter().find(|one| first.is_none_or(|first| *first == one.peer));
    // Peers by Unix-domain sockets have no address.
    let unix = || {
        let peer = facts.requests.unix.iter().find(|peer| peer.is_called)?;
        let process = peer.process.as_deref().unwrap_or("a process");
        Some(format!("{process} at the Unix socket {}", peer.name))
    };
    known.map(PeerRequests::name).or_else(|| first.cloned()).or_else(unix).unwrap_or_else(|| UNKNOWN_PEER.to_owned())
}

/// Returns true if most waits for a disk are until written data is on it.
fn is_fsync(facts: &Facts) -> bool {
    let (syncs, all) = (facts.disk_threads(&[DiskWait::Sync]), facts.disk_waits.values().sum::<f64>());
    all > 0.05 && syncs * 2.0 >= all
}

/// Tells what threads do in most of their time: `wait for 127.0.0.1:5432`.
pub fn doing(facts: &Facts, kind: Waiting) -> Option<String> {
    Some(match kind {
        Waiting::Not => "compute".to_owned(),
        Waiting::Network => format!("wait for {}", peer(facts)),
        Waiting::NameService => "wait for the address of a name (DNS)".to_owned(),
        Waiting::File if is_fsync(facts) => "wait until written data is on the device (fsync)".to_owned(),
        Waiting::File => "wait for files".to_owned(),
        Waiting::Sleep => "sleep".to_owned(),
        Waiting::Resource if writers(facts) >= WRITERS_MIN => {
            let reader = facts.details.pipe_reader.as_deref().unwrap_or("another process");
            format!("wait for room in a full pipe, which {reader} reads too slowly,")
        }
        Waiting::Lock | Waiting::Resource => "wait for something else that is held".to_owned(),
        // Another thread may read the answers for them.
        Waiting::Result => match facts.requests.outbound.first().filter(|peer| peer.outstanding >= ANSWERS_MIN) {
            Some(peer) => format!("wait for {}", peer.name()),
            None => "wait for other threads".to_owned(),
        },
        Waiting::Idle | Waiting::Unknown => return None,
    })
}

/// Finds an executor whose threads all wait within tasks, while more threads wait for its results.
pub fn executor(facts: &Facts) -> Option<Finding> {
    let mut pools: HashMap<&str, Vec<&ThreadFacts>> = HashMap::new();
    for thread in facts.threads.iter().filter(|thread| thread.is_worker && thread.id < (1 << 32)) {
        pools.entry(pool_of(&thread.name)).or_default().push(thread);
    }
    let found = pools.into_iter().filter_map(|(name, workers)| of_pool(facts, name, &workers));
    found.max_by(|a, b| a.cost.total_cmp(&b.cost).then_with(|| b.sentence.cmp(&a.sentence)))
}

/// Returns the name of a thread's pool: its own without the number.
pub fn pool_of(name: &str) -> &str {
    name.trim_end_matches(|c: char| c.is_ascii_digit())
}

fn of_pool(facts: &Facts, name: &str, workers: &[&ThreadFacts]) -> Option<Finding> {
    let n = workers.len() as f64;
    let mean = |waiting| workers.iter().map(|thread| thread.share(waiting)).sum::<f64>() / n;
    let idle = mean(Waiting::Idle);
    // Requests may wait without a thread of their own.
    let asynchronous = facts.requests.inbound.under_way - n * (1.0 - idle);
    let results = (facts.threads_waiting(Waiting::Result) - mean(Waiting::Result) * n).max(asynchronous);
    // A pool of libuv has its queue where no thread waits.
    let is_of_uv = facts.event_loop.is_some() && workers.iter().any(|thread| has_uv_work(thread));
    // So have executors of asyncio, whose coroutines are no threads.
    let is_of_asyncio = facts.event_loop.as_ref().is_some_and(|one| one.runtime.starts_with(ASYNCIO))
        && idle <= IDLE_OF_ASYNCIO
        && workers.len() > 1;
    let for_each = if is_of_uv || is_of_asyncio {
        0.0
    } else if name == COMMON_POOL {
        RESULTS_OF_COMMON
    } else {
        RESULTS_FOR_EACH
    };
    if idle > IDLE_MAX || results < n * for_each {
        return None;
    }
    let (kind, place, share) = mostly(workers)?;
    if kind == Waiting::Not || share < WAITING_MIN {
        return None;
    }
    let doing = doing(facts, kind)?;
    let place = shown(&place);
    Some(Finding {
        cause: "executor",
        cost: (1.0 - idle) * while_processors_are_free(facts),
        sentence: match is_of_uv {
            true => format!(
                "The threads of libuv's pool bound it: all {n:.0} are never idle and mostly {doing} in {place}; further \
                 work for the pool (files, names, compression, cryptography) queues behind them."
            ),
            false if is_of_asyncio => format!(
                "The threads of an executor bound it: all {n:.0} of its thread pool are never idle and \
                 mostly {doing} in {place}; further calls queue behind them."
            ),
            false if workers.len() == 1 => format!(
                "The threads of an executor bound it: its only thread, {name}*, is never idle and mostly blocked: tasks \
                 {doing} in {place}, while {results:.1} others wait for their results."
            ),
            false => format!(
                "The threads of an executor bound it: all its {n:.0} threads {name}* are never idle and mostly {doing} \
                 in {place}, while {results:.1} others wait for their results."
            ),
        },
        evidence: vec![format!("{} of the workers' time goes to that, {} is idle", percent(share), percent(idle))],
        cure: match is_of_uv {
            true => "a larger pool (UV_THREADPOOL_SIZE in the environment, at the start), or fewer calls that wait",
            false => {
                "more threads in the executor, or tasks that do not wait in it (an asynchronous client, an executor of \
                 their own for calls that wait)"
            }
        }
        .to_owned(),
    })
}

/// Returns true for a thread of libuv's pool that was seen at work.
fn has_uv_work(thread: &ThreadFacts) -> bool {
    let mut at_work = thread.moments.iter().filter(|moment| moment.waiting != Waiting::Idle);
    at_work.any(|moment| waiting::is_of_uv_pool(&moment.frames))
}

/// Finds carriers of virtual threads that are held by threads that wait.
pub fn pinned(facts: &Facts) -> Option<Finding> {
    let carries = |thread: &&ThreadFacts| {
        thread
            .moments
            .iter()
            .any(|moment| moment.frames.iter().any(|frame| frame.name.starts_with("jdk.internal.vm.Continuation.")))
    };
    let carriers: Vec<&ThreadFacts> =
        facts.threads.iter().filter(|thread| thread.id < (1 << 32)).filter(carries).collect();
    let moments = carriers.iter().flat_map(|thread| &thread.moments);
    let held = moments.filter(|moment| {
        !matches!(moment.waiting, Waiting::Not | Waiting::Idle)
            && moment.frames.iter().any(|frame| &*frame.name == "java.lang.VirtualThread.run")
    });
    let (mut sum, mut largest) = (0.0, None);
    for moment in held {
        sum += moment.share;
        if largest.is_none_or(|(share, _)| share < moment.share) {
            largest = Some((moment.share, moment));
        }
    }
    let share = sum / carriers.len().max(1) as f64;
    let (_, moment) = largest.filter(|_| share >= PINNED_MIN)?;
    let place = waiting::user_frame(&moment.frames).map_or_else(|| "a task".to_owned(), |frame| shown(&frame.name));
    let doing = doing(facts, moment.waiting).unwrap_or_else(|| "wait".to_owned());
    Some(Finding {
        cause: "pinned-virtual-threads",
        cost: share * while_processors_are_free(facts),
        sentence: format!(
            "Pinned virtual threads bound it: {sum:.1} of {} carrier threads are held at a time by virtual threads that \
             {doing} in {place}, inside a synchronized block or native code; other virtual threads cannot run then.",
            carriers.len()
        ),
        evidence: vec![format!(
            "{:.2} processors used of {:.2}",
            facts.cpu_seconds() / facts.seconds,
            facts.processors
        )],
        cure:
            "ReentrantLock instead of synchronized around what waits (or Java 24 or later, where synchronized does not \
               pin); a pool of platform threads for native calls"
                .to_owned(),
    })
}
