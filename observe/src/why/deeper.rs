//! The second look: dearer ones, each only where the first has pointed to it.

use std::time::Duration;

use super::facts::{Deeper, Facts, LockSeen, ThreadFacts};
use super::reads;
use super::rules::{PAGE_FAULT_FRAMES, has_frame};
use super::storage::points_to_reads;
use super::waiting::{self, Waiting};
use crate::command::{Look, faults, locks};
use crate::jvm;
use yunti_probe::answer::{Answer, or_skip};
use yunti_probe::stopping::Stopping;
use yunti_probe::target::Process;

const TIME: Duration = Duration::from_secs(3);
/// Threads at a time that wait for locks, from which on it is asked which.
const LOCK_WAITERS: f64 = 0.25;
const FAULTS_PER_SECOND: f64 = 5000.0;
const FAULTS_CPU_SHARE: f64 = 0.08;
/// A worker that has less to wait for than this is never without work.
const IDLE_SHARE: f64 = 0.1;
const COMPUTING_SHARE: f64 = 0.5;

pub fn look(process: &Process, facts: &Facts, stopping: &mut Stopping, answer: &mut Answer) -> Deeper {
    let mut deeper = Deeper::default();
    let look = Look { process, is_jvm: facts.is_jvm, time: TIME };
    if !process.is_alive() {
        return deeper;
    }
    if points_to_locks(facts) {
        let looked = locks::look(look, stopping, answer);
        let seen = or_skip(&mut answer.skips, "locks", looked);
        deeper.lock = seen.and_then(|(locks, watched)| longest_waited(locks, watched.time));
    }
    if points_to_faults(facts) {
        let looked = faults::summary(look, stopping, answer);
        deeper.faults = or_skip(&mut answer.skips, "page faults by place", looked);
    }
    if points_to_queues(facts) {
        let histogram = jvm::diagnose(process, "GC.class_histogram -all");
        deeper.queued_tasks =
            or_skip(&mut answer.skips, "what stands in queues", histogram).map(|text| queued_tasks(&text));
    }
    if points_to_reads(facts) {
        let looked = reads::look(process, stopping, &mut answer.skips);
        deeper.reads = or_skip(&mut answer.skips, "what is read, and how", looked);
    }
    deeper
}

/// Whether there is something to be looked at closer.
pub fn points_deeper(facts: &Facts) -> bool {
    points_to_locks(facts) || points_to_faults(facts) || points_to_queues(facts) || points_to_reads(facts)
}

fn points_to_locks(facts: &Facts) -> bool {
    let waits_unseen = !facts.is_jvm && facts.threads_waiting(Waiting::Unknown) > LOCK_WAITERS * 2.0;
    facts.threads_waiting(Waiting::Lock) > LOCK_WAITERS || waits_unseen
}

fn points_to_faults(facts: &Facts) -> bool {
    let share = facts.cpu_share(|frames| has_frame(frames, &PAGE_FAULT_FRAMES));
    facts.faults / facts.seconds.max(0.001) > FAULTS_PER_SECOND || share > FAULTS_CPU_SHARE
}

/// There are threads of executors that are never without work, and wait rather than compute.
fn points_to_queues(facts: &Facts) -> bool {
    let is_busy = |thread: &ThreadFacts| {
        thread.is_worker && thread.share(Waiting::Idle) < IDLE_SHARE && thread.share(Waiting::Not) < COMPUTING_SHARE
    };
    facts.is_jvm && facts.threads.iter().any(is_busy)
}

fn longest_waited(mut locks: Vec<locks::Lock>, time: Duration) -> Option<LockSeen> {
    locks.retain(|lock| lock.kind.is_contention());
    let lock = locks.into_iter().max_by_key(|lock| lock.total_ns)?;
    let seconds = time.as_secs_f64().max(0.001);
    let held = lock.holding.dearest(1).into_iter().next();
    Some(LockSeen {
        waiting_threads: lock.total_ns as f64 / 1e9 / seconds,
        waits_per_second: lock.contentions as f64 / seconds,
        holder: lock.holders().first().map(|(thread, _)| (*thread).to_owned()),
        held_in: held.and_then(|(_, frames)| waiting::own_frame(&frames).map(|frame| frame.name.to_string())),
        name: lock.name,
    })
}

/// Objects of the classes that hold one task in the queue of an executor: lines of `num: instances bytes class`.
fn queued_tasks(histogram: &str) -> u64 {
    const NODES: [&str; 4] = [
        "java.util.concurrent.LinkedBlockingQueue$Node",
        "java.util.concurrent.LinkedBlockingDeque$Node",
        "java.util.concurrent.LinkedTransferQueue$Node",
        "java.util.concurrent.FutureTask",
    ];
    let of = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let class = words.get(3)?;
        NODES.contains(class).then(|| words[1].parse::<u64>().ok()).flatten()
    };
    histogram.lines().filter_map(of).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::queued_tasks;

    #[test]
    fn histograms() {
        let text = " num     #instances         #bytes  class name (module)\n-----\n   1:  1000  8 [B (java.base@17)\n   2:  77  9 java.util.concurrent.LinkedBlockingQueue$Node (java.base@17.0.15)\n";
        assert_eq!((queued_tasks(text), queued_tasks("")), (77, 0));
    }
}
