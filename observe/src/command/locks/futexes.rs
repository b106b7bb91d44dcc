//! Locks of native code: calls of futex(2), classified by the calling function.

use std::collections::HashMap;
use std::rc::Rc;

use yunti_base::Result;

use super::lock::{Kind, Lock};
use crate::capture::{Capture, StackRequest};
use crate::command::Measurement;
use yunti_probe::answer::Answer;
use yunti_probe::condition::Conditions;
use yunti_probe::kernel::{Hit, Hits, Place, Probe};
use yunti_probe::stack::Frame;
use yunti_probe::stopping::{PULSE, Stopping, Watched};

/// Stacks per second.
const STACKS: u32 = 2000;
/// Operations of futex(2), without FUTEX_PRIVATE_FLAG and FUTEX_CLOCK_REALTIME.
const OPERATION: u64 = 0x7f;
const WAITS: [u64; 5] = [0, 6, 9, 11, 13];
const WAKES: [u64; 3] = [1, 5, 7];

/// Measures futexes until the time is over. Returns a lock per address.
pub fn measure(measurement: Measurement, stopping: &mut Stopping, answer: &mut Answer) -> Result<(Vec<Lock>, Watched)> {
    let Measurement { process, is_jvm, time } = measurement;
    let mut capture = Capture::of(process, is_jvm, time)?;
    let place = Place::SystemCall(libc::SYS_futex as u32);
    let probes = [Probe { place, forms: Vec::new(), conditions: Conditions::default() }];
    let mut program = Hits::start(Some(process), &probes, capture.events(), STACKS)?;
    let mut hits = Vec::new();
    let mut names = HashMap::new();
    let mut collect = |program: &mut Hits, capture: &mut Capture| {
        for hit in program.collect() {
            let Hit { tid, tid_inside, stack: number, .. } = hit;
            capture.record(StackRequest { tid, tid_inside, number, time_ns: hit.stack_time_ns(true) });
            names.entry(tid).or_insert_with(|| Rc::<str>::from(format!("{} {tid}", hit.thread)));
            hits.push(hit);
        }
        capture.collect();
        true
    };
    let watched = stopping.wait(process, time, PULSE, || collect(&mut program, &mut capture));
    program.detach();
    collect(&mut program, &mut capture);
    let account = program.account();
    let mut stacks = capture.finish()?;
    answer.skips.append(&mut stacks.skips);
    answer.missing(account.lost, |n| format!("{n} calls of futex: the buffer was full"));
    answer.missing(account.stacks_dropped, |n| {
        format!("stacks of {n} calls of futex: {STACKS} per second are the limit")
    });
    let mut all: HashMap<u64, Lock> = HashMap::new();
    let operation = |hit: &Hit| hit.arguments[1] & OPERATION;
    for hit in hits.iter().filter(|hit| WAITS.contains(&operation(hit))) {
        let Some(ns) = hit.duration_ns else { continue };
        let frames = stacks.get(hit.tid, hit.stack);
        let address = hit.arguments[0];
        let lock = all.entry(address).or_insert_with(|| Lock::new(Kind::Futex, String::new()));
        if let (Kind::Futex, Some(kind)) = (lock.kind, frames.and_then(|frames| kind_of(frames))) {
            lock.kind = kind;
        }
        let thread = names.get(&hit.tid).cloned().unwrap_or_else(|| "?".into());
        lock.add(thread, ns);
        if let Some(frames) = frames {
            lock.add_stack(frames, ns);
        }
    }
    // A thread that wakes a waiter has just released the lock.
    for hit in hits.iter().filter(|hit| WAKES.contains(&operation(hit)) && hit.result as i64 > 0) {
        let Some(lock) = all.get_mut(&hit.arguments[0]) else { continue };
        let thread = names.get(&hit.tid).cloned().unwrap_or_else(|| "?".into());
        *lock.holders.entry(thread).or_default() += 1;
        if let Some(frames) = stacks.get(hit.tid, hit.stack) {
            lock.holding.add(frames.iter(), 1);
        }
    }
    let mut locks: Vec<Lock> = all
        .into_iter()
        .map(|(address, mut lock)| {
            lock.name = format!("{} at 0x{address:x}", lock.kind.name());
            lock
        })
        .collect();
    locks.sort_by(|a, b| a.name.cmp(&b.name));
    Ok((locks, watched))
}

/// Returns the kind of the innermost function in the list.
fn kind_of(frames: &[Frame]) -> Option<Kind> {
    const KNOWN: [(&str, Kind); 18] = [
        ("pthread_mutex_lock", Kind::Mutex),
        ("pthread_mutex_timedlock", Kind::Mutex),
        ("pthread_mutex_clocklock", Kind::Mutex),
        ("lll_lock_wait", Kind::Mutex),
        ("lock_contended", Kind::Mutex),
        ("lock_slow", Kind::Mutex),
        ("rwlock", Kind::ReadWriteLock),
        ("read_contended", Kind::ReadWriteLock),
        ("write_contended", Kind::ReadWriteLock),
        ("sem_wait", Kind::Semaphore),
        ("sem_timedwait", Kind::Semaphore),
        ("sem_clockwait", Kind::Semaphore),
        ("new_sem_wait", Kind::Semaphore),
        ("pthread_cond_", Kind::Condition),
        ("pthread_join", Kind::Condition),
        ("pthread_barrier_wait", Kind::Condition),
        ("pthread_clockjoin", Kind::Condition),
        ("thread_parker", Kind::Condition),
    ];
    let of = |frame: &Frame| KNOWN.iter().find(|(name, _)| frame.name.contains(name)).map(|(_, kind)| *kind);
    frames.iter().rev().find_map(of)
}
