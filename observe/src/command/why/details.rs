//! The second measurement: details that cost more, each only if the first measurement suggests it.

use std::time::Duration;

use crate::command::{Measurement, faults, locks};
use crate::jvm;
use crate::why::account::waiting::{self, Waiting};
use crate::why::causes::finding::{PAGE_FAULT_FRAMES, has_frame};
use crate::why::causes::outside;
use crate::why::causes::runtimes::collections::needs_code_cache;
use crate::why::causes::storage::needs_reads;
use crate::why::causes::waits::{database, deadlock, pipe};
use crate::why::facts::{Details, Facts, LockSummary, ThreadFacts};
use crate::why::measure::reads;
use yunti_probe::answer::{Answer, or_skip};
use yunti_probe::stopping::Stopping;
use yunti_probe::target::Process;

/// Time of each measurement.
const TIME: Duration = Duration::from_secs(3);
/// Threads waiting for locks at a time, on average, from which on the locks are measured.
const LOCK_WAITERS: f64 = 0.25;
/// Page faults per second from which on they are measured.
const FAULTS_PER_SECOND: f64 = 5000.0;
/// Share of processor time in page faults from which on they are measured.
const FAULTS_CPU_SHARE: f64 = 0.08;
/// Idle share of a worker's time below which its queue is never empty.
const IDLE_SHARE: f64 = 0.1;
/// Share of a worker's time on a processor from which on it computes rather than waits.
const COMPUTING_SHARE: f64 = 0.5;

/// Measures the details that the facts suggest.
pub fn measure(process: &Process, facts: &Facts, stopping: &mut Stopping, answer: &mut Answer) -> Details {
    let mut details = Details::default();
    let measurement = Measurement { process, is_jvm: facts.is_jvm, time: TIME };
    if !process.is_alive() {
        return details;
    }
    if deadlock::may_be(facts) {
        details.deadlock = if facts.is_jvm {
            let dump = jvm::diagnose(process, "Thread.print -l");
            or_skip(&mut answer.skips, "deadlocks", dump).and_then(|text| deadlock::in_dump(&text))
        } else {
            deadlock::in_mutexes(process, facts)
        };
    }
    details.sessions = database::sessions(process, facts);
    if !facts.is_jvm {
        details.lock_owner = deadlock::owner_outside(process, facts);
    }
    details.pipe_reader = pipe::reader(process, facts);
    if needs_locks(facts) {
        let result = locks::measure(measurement, stopping, answer);
        let measured = or_skip(&mut answer.skips, "locks", result);
        details.lock = measured.and_then(|(locks, watched)| longest_waited(locks, watched.time));
    }
    if needs_faults(facts) {
        let result = faults::summary(measurement, stopping, answer);
        details.faults = or_skip(&mut answer.skips, "page faults by place", result);
    }
    if needs_queues(facts) {
        let histogram = jvm::diagnose(process, "GC.class_histogram -all");
        details.queued_tasks = or_skip(&mut answer.skips, "tasks in queues", histogram).map(|text| queued_tasks(&text));
    }
    if outside::needs_meddlers(facts) {
        let found = outside::meddlers(process, stopping);
        details.meddlers = or_skip(&mut answer.skips, "who acts on the process", found).unwrap_or_default();
    }
    if needs_code_cache(facts) {
        let cache = jvm::diagnose(process, "Compiler.codecache");
        details.code_cache_full = or_skip(&mut answer.skips, "code cache", cache).map(|text| is_full(&text));
    }
    if needs_reads(facts) {
        let result = reads::measure(process, stopping, &mut answer.skips);
        details.reads = or_skip(&mut answer.skips, "reads of files", result);
    }
    details
}

/// Returns true if a second measurement would show details.
pub fn needs_details(facts: &Facts) -> bool {
    needs_locks(facts)
        || needs_faults(facts)
        || needs_queues(facts)
        || needs_reads(facts)
        || outside::needs_meddlers(facts)
}

fn needs_locks(facts: &Facts) -> bool {
    let has_unknown_waits = !facts.is_jvm && facts.threads_waiting(Waiting::Unknown) > LOCK_WAITERS * 2.0;
    facts.threads_waiting(Waiting::Lock) > LOCK_WAITERS || has_unknown_waits
}

fn needs_faults(facts: &Facts) -> bool {
    let share = facts.cpu_share(|frames| has_frame(frames, &PAGE_FAULT_FRAMES));
    facts.faults / facts.seconds.max(0.001) > FAULTS_PER_SECOND || share > FAULTS_CPU_SHARE
}

/// Returns true if a thread of an executor is never idle, and waits rather than computes.
fn needs_queues(facts: &Facts) -> bool {
    let is_busy = |thread: &ThreadFacts| {
        thread.is_worker && thread.share(Waiting::Idle) < IDLE_SHARE && thread.share(Waiting::Not) < COMPUTING_SHARE
    };
    facts.is_jvm && facts.threads.iter().any(is_busy)
}

fn longest_waited(mut locks: Vec<locks::Lock>, time: Duration) -> Option<LockSummary> {
    locks.retain(|lock| lock.kind.is_contention());
    let lock = locks.into_iter().max_by_key(|lock| lock.total_ns)?;
    let seconds = time.as_secs_f64().max(0.001);
    let held = lock.holding.dearest(1).into_iter().next();
    Some(LockSummary {
        waiting_threads: lock.total_ns as f64 / 1e9 / seconds,
        waits_per_second: lock.contentions as f64 / seconds,
        holder: lock.holders().first().map(|(thread, _)| (*thread).to_owned()),
        held_in: held.and_then(|(_, frames)| waiting::own_frame(&frames).map(|frame| frame.name.to_string())),
        name: lock.name,
    })
}

/// Returns the number of queued tasks, by the classes that hold one each. Lines are `num: instances bytes class`.
fn queued_tasks(histogram: &str) -> u64 {
    const NODES: [&str; 4] = [
        "java.util.concurrent.LinkedBlockingQueue$Node",
        "java.util.concurrent.LinkedBlockingDeque$Node",
        "java.util.concurrent.LinkedTransferQueue$Node",
        "java.util.concurrent.FutureTask",
    ];
    let count = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let class = words.get(3)?;
        NODES.contains(class).then(|| words[1].parse::<u64>().ok()).flatten()
    };
    histogram.lines().filter_map(count).max().unwrap_or(0)
}

/// Returns true if the JVM reports that its code cache was full, or that it compiles no more.
fn is_full(code_cache: &str) -> bool {
    let count = |line: &str| line.split_once("full_count=").is_some_and(|(_, n)| !n.starts_with('0'));
    code_cache.lines().any(|line| line.contains("compilation: disabled") || count(line))
}

#[cfg(test)]
mod tests {
    use super::{is_full, queued_tasks};

    #[test]
    fn histograms() {
        let text = " num     #instances         #bytes  class name (module)\n-----\n   1:  1000  8 [B \
             (java.base@17)\n   2:  77  9 java.util.concurrent.LinkedBlockingQueue$Node (java.base@17.0.15)\n";
        assert_eq!((queued_tasks(text), queued_tasks("")), (77, 0));
    }

    #[test]
    fn code_caches() {
        assert!(is_full(" compilation: disabled (not enough contiguous free space left)\n"));
        assert!(is_full("              stopped_count=1, restarted_count=0\n full_count=3\n"));
        assert!(!is_full(" compilation: enabled\n full_count=0\n"));
    }
}
