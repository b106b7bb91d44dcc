//! Causes in what threads hold and others wait for: locks, pools, queues of executors; and sleeps within work.

use crate::why::account::queue::{self, Queue};
use crate::why::account::waiting::{self, Waiting, shown};
use crate::why::causes::finding::{Finding, of_processor, percent, while_processors_are_free};
use crate::why::causes::waits::workers::{self, doing};
use crate::why::facts::{Facts, Moment, ThreadFacts};
use yunti_probe::stack::Frame;

/// Waits per second for a fair lock from which on it has a convoy.
const CONVOY_WAITS_PER_SECOND: f64 = 500.0;
/// Share of the holders' time from which on one activity tells what everybody waits for.
const HELD_MIN: f64 = 0.5;
/// Units that have a resource at a time, up to which only one has it: samples of one are not exactly one.
const ONE_MAX: f64 = 1.4;
/// Sleeping threads at a time, on average, from which on they count.
const SLEEPERS_MIN: f64 = 0.2;

/// Returns the costliest wait for another thread of the process: lock, pool or queue.
pub fn waits_for_others(facts: &Facts) -> Option<Finding> {
    let found = [
        full_queue(facts),
        queued(facts),
        lock_by_kernel(facts),
        lock_of_file(facts),
        lock_tried_again(facts),
        locking(facts),
        workers::executor(facts),
        workers::pinned(facts),
    ];
    found.into_iter().flatten().max_by(|a, b| a.cost.total_cmp(&b.cost))
}

/// Queued tasks from which on a queue counts as full.
const QUEUED_MANY: u64 = 200;

fn full_queue(facts: &Facts) -> Option<Finding> {
    let queued = facts.details.queued_tasks.filter(|queued| *queued >= QUEUED_MANY)?;
    let free = while_processors_are_free(facts);
    use Waiting::{File, Lock, NameService, Network, Not, Resource, Result, Sleep};
    let of_workers = |waiting| facts.waits_in_of(waiting, |thread| thread.is_worker);
    let ways = [Network, NameService, File, Resource, Lock, Result, Sleep, Not].into_iter().filter_map(of_workers);
    let (place, _) = ways.max_by(|a, b| a.1.total_cmp(&b.1))?;
    let is_busy = |thread: &&ThreadFacts| thread.is_worker && thread.share(Waiting::Idle) < workers::IDLE_MAX;
    let workers: Vec<&ThreadFacts> = facts.threads.iter().filter(is_busy).collect();
    let name = workers.first().map_or_else(String::new, |thread| workers::pool_of(&thread.name).to_owned());
    Some(Finding {
        cause: "full-executor-queue",
        cost: free,
        sentence: format!(
            "The threads of an executor bound it: up to {queued} tasks wait in the queue of {} threads {name}*, which \
             are never idle, mostly in {}, while {} of the processors are.",
            workers.len(),
            shown(&place),
            percent(1.0 - facts.utilisation())
        ),
        evidence: vec![
            format!("{queued} queue entries in the heap, including finished ones that are not collected yet"),
            format!("its threads are mostly in {place}"),
        ],
        cure:
            "more threads in the executor, because they wait rather than compute; and a bounded queue for back-pressure"
                .to_owned(),
    })
}

/// Follows a queue whose holders wait at another queue to that one, and so on.
fn last_of_chain(queues: &[Queue]) -> Option<(&Queue, f64)> {
    let mut last = queues.first()?;
    let mut waiting = last.waiting;
    let mut passed = vec![&last.door];
    while let Some((Waiting::Lock | Waiting::Resource, _, share)) = last.held()
        && share >= HELD_MIN
        && let Some(next) = queues.iter().find(|queue| !passed.contains(&&queue.door))
    {
        waiting += next.waiting;
        passed.push(&next.door);
        last = next;
    }
    Some((last, waiting))
}

/// Holders of a resource in a sentence.
const HOLDERS: &str = "its holders";

/// Tells what the holders of a resource do: `, which wait for 127.0.0.1:5432 in a.Orders.load`.
///
/// @param who the holders, as the sentence names them
fn held_by(facts: &Facts, queue: &Queue, who: &str) -> String {
    let Some((kind, place, share)) = queue.held().filter(|(.., share)| *share >= HELD_MIN) else {
        return String::new();
    };
    let Some(doing) = doing(facts, kind) else { return String::new() };
    let mostly = if share < 0.9 { " mostly" } else { "" };
    format!("; {who}{mostly} {doing} in {}", shown(&place))
}

fn queued(facts: &Facts) -> Option<Finding> {
    let queues = queue::queues(facts);
    let (queue, waiting) = last_of_chain(&queues)?;
    if queue.kind == Waiting::Lock {
        return lock(facts, queue, waiting);
    }
    let doing = held_by(facts, queue, if queue.is_stage { "those" } else { HOLDERS });
    let free = while_processors_are_free(facts);
    let cost = waiting / facts.busy_threads().max(0.01) * free;
    let wanted = wanted_in(queue);
    let evidence = vec![
        format!(
            "{} threads use it; {:.1} wait at a time, {:.1} are in the code behind it",
            queue.units, queue.waiting, queue.holding
        ),
        facts
            .waits_in(Waiting::Network)
            .map_or_else(String::new, |(name, n)| format!("at the same time {n:.2} threads wait for a peer in {name}")),
    ];
    if queue.is_stage {
        return Some(Finding {
            cause: "stage",
            cost,
            sentence: format!(
                "A stage of its pipeline bounds it: {:.1} threads at a time wait in {}{wanted} until others take what \
                 they pass on, {:.1} at a time{doing}.",
                queue.waiting,
                shown(&queue.door),
                queue.holding
            ),
            evidence,
            cure: "more threads for that stage, or less work in it (larger batches, no waits); more threads before it \
                   change nothing"
                .to_owned(),
        });
    }
    let is_one = queue.units >= 3 && queue.holding <= ONE_MAX && queue.holding >= 0.3;
    Some(if is_one {
        Finding {
            cause: "pool-of-one",
            cost,
            sentence: format!(
                "A pool of one bounds it: {} threads use it in {}{wanted}, {:.1} of them wait at a time, and only one \
                 proceeds{doing}.",
                queue.units,
                shown(&queue.door),
                queue.waiting
            ),
            evidence,
            cure: "a larger pool: as large as the other side can bear, or one entry per thread".to_owned(),
        }
    } else {
        let has = if queue.holding < 0.3 { "few".to_owned() } else { format!("{:.1}", queue.holding) };
        Finding {
            cause: "pool",
            cost,
            sentence: format!(
                "A limited resource bounds it: {:.1} threads wait in {}{wanted} for what {has} have at a time{doing}.",
                queue.waiting,
                shown(&queue.door)
            ),
            evidence,
            cure:
                "hold it for less time; or more of it (a larger pool, more permits), if what its holders wait for can \
                   bear that"
                    .to_owned(),
        }
    })
}

fn wanted_in(queue: &Queue) -> String {
    let through = queue.through.as_ref().map_or_else(String::new, |name| format!(" at {name}"));
    let caller =
        if queue.door == queue.wanted_in { String::new() } else { format!(" (called by {})", shown(&queue.wanted_in)) };
    through + &caller
}

fn lock(facts: &Facts, queue: &Queue, waiting: f64) -> Option<Finding> {
    let longest = facts.details.lock.as_ref();
    let waiting = match longest {
        Some(lock) if !facts.is_jvm => lock.waiting_threads.max(waiting),
        _ => waiting,
    };
    let doing = held_by(facts, queue, HOLDERS);
    Some(lock_of(facts, waiting, facts.busy_threads(), &queue.wanted_in, &doing))
}

/// Finds contention of native locks that the kernel has counted, and that no stack shows.
fn lock_by_kernel(facts: &Facts) -> Option<Finding> {
    let lock = facts.details.lock.as_ref().filter(|_| !facts.is_jvm)?;
    let known = facts.threads_waiting(Waiting::Lock) > lock.waiting_threads / 2.0;
    // The waits of an event loop are on its stacks. The other threads of such a runtime share locks of its own.
    let is_of_runtime = facts.event_loop.as_ref().is_some_and(|one| one.profile.is_some());
    if known || is_of_runtime || lock.waiting_threads < queue::WAITERS_MIN {
        return None;
    }
    let busy = facts.busy_threads() + lock.waiting_threads;
    Some(lock_of(facts, lock.waiting_threads, busy, "", ""))
}

/// Share of the processor time in functions that take and give back locks from which on these bound it.
const LOCKING_MIN: f64 = 0.4;

/// Finds locks that are taken so often that the taking itself, not a wait, has the time.
fn locking(facts: &Facts) -> Option<Finding> {
    const LOCKS: [&str; 9] = [
        "pthread_mutex_lock",
        "pthread_mutex_unlock",
        "pthread_rwlock_",
        "lll_lock_wait",
        "sync.(*Mutex).",
        "sync.(*RWMutex).",
        "ObjectMonitor::",
        "ObjectSynchronizer::",
        "sys::sync::mutex",
    ];
    let locks = |frames: &[Frame]| frames.iter().any(|frame| LOCKS.iter().any(|sign| frame.name.contains(sign)));
    let share = facts.cpu_share(locks);
    if share < LOCKING_MIN || facts.threads.len() < 2 {
        return None;
    }
    let place =
        facts.own_function(locks).map_or_else(String::new, |(name, _)| format!(", called from {}", shown(&name)));
    Some(Finding {
        cause: "lock",
        cost: share * of_processor(facts),
        sentence: format!(
            "Contention for a lock bounds it: taking it and giving it back has {} of its processor time{place}.",
            percent(share)
        ),
        evidence: vec![format!("{:.0} context switches per second", facts.switches / facts.seconds.max(0.001))],
        cure: "take it less often (once for many pieces of work), keep a copy for each thread, or read without it"
            .to_owned(),
    })
}

/// Finds waits for a lock of a file that are on no stack.
fn lock_of_file(facts: &Facts) -> Option<Finding> {
    let lock = &facts.file_lock;
    let is_known = facts.threads_waiting(Waiting::Lock) > lock.waiting / 2.0;
    if is_known || lock.waiting < queue::WAITERS_MIN {
        return None;
    }
    Some(lock_of(facts, lock.waiting, facts.busy_threads() + lock.waiting, "", ""))
}

/// Share of the time in which another process has the lock of an open file from which on a thread that sleeps may wait
/// for it: it tries again and again.
const HELD_ELSEWHERE_MIN: f64 = 0.4;
/// Share from which on it is never given back.
const HELD_ALWAYS: f64 = 0.97;
/// Context switches in a second for each thread that sleeps and tries again.
const NAPS_MIN: f64 = 30.0;

/// Finds a lock of a file that another process holds most of the time, while threads of this one sleep.
pub fn lock_tried_again(facts: &Facts) -> Option<Finding> {
    let (lock, asleep) = (&facts.file_lock, facts.threads_waiting(Waiting::Sleep));
    let path = lock.path.as_ref().filter(|_| lock.waiting < queue::WAITERS_MIN)?;
    let naps = facts.switches / facts.seconds.max(0.001);
    let is_here = lock.held_here >= lock.held;
    let held = lock.held.max(lock.held_here);
    let is_it = match is_here {
        // One that is always held is held by design.
        true => held < HELD_ALWAYS && asleep >= 1.0 && naps >= asleep * NAPS_MIN,
        false => asleep >= SLEEPERS_MIN,
    };
    if held < HELD_ELSEWHERE_MIN || !is_it {
        return None;
    }
    let holder = match is_here {
        true => "another thread of it".to_owned(),
        false => format!("another process, {}", lock.holder.as_deref().unwrap_or("which has ended")),
    };
    let sleeps = facts.in_place(Waiting::Sleep);
    Some(Finding {
        cause: "lock",
        cost: held * while_processors_are_free(facts),
        sentence: format!(
            "The lock of a file bounds it: {holder} has {path} locked ({}) for {} of the time, while {asleep:.1} threads \
             sleep at a time and try again{sleeps}.",
            lock.call,
            percent(held)
        ),
        evidence: vec![format!("/proc/locks: {holder} holds it alone in {} of the samples", percent(held))],
        cure:
            "shorter transactions there; a longer time-out with a wait instead of tries; of SQLite, the journal mode \
               WAL, and one process that writes"
                .to_owned(),
    })
}

/// Waits for a lock of a file, as a share of all waits for locks, from which on that is the lock.
const OF_FILE_MIN: f64 = 0.5;

fn lock_of(facts: &Facts, waiting: f64, busy: f64, wanted_in: &str, doing: &str) -> Finding {
    let longest = facts.details.lock.as_ref();
    // The contention of the first measurement may be over in the second.
    let of_file = Some(&facts.file_lock).filter(|lock| lock.waiting >= waiting * OF_FILE_MIN);
    let file = of_file.map(|lock| format!("the lock of {} ({})", lock.path.as_deref().unwrap_or("a file"), lock.call));
    // The futexes of Go are those of its scheduler.
    let longest = longest.filter(|_| file.is_none() && facts.go.is_none());
    let name = file.as_deref().or(longest.map(|lock| &*lock.name)).unwrap_or("a lock");
    let rate = longest.map_or(0.0, |lock| lock.waits_per_second);
    let is_fair = name.contains("FairSync") && !name.contains("NonfairSync");
    // Handing over a lock costs processor time, so busy processors do not lower the weight.
    let is_convoy = is_fair && rate > CONVOY_WAITS_PER_SECOND;
    let cost = waiting / busy.max(0.01) * if is_convoy { 1.0 } else { while_processors_are_free(facts) };
    let place = if wanted_in.is_empty() { String::new() } else { format!(", wanted in {}", shown(wanted_in)) };
    let held = longest
        .and_then(|lock| lock.held_in.as_ref())
        .map_or_else(String::new, |name| format!(", held in {}", shown(name)));
    let outside = match of_file {
        Some(lock) => lock.holder.as_ref(),
        None => facts.details.lock_owner.as_ref(),
    };
    let outside = outside.map(|owner| format!(", held by another process, {owner}"));
    let (held_in, doing) = match &outside {
        Some(outside) => (outside.as_str(), ""),
        None if doing.is_empty() => (held.as_str(), ""),
        None => ("", doing),
    };
    let holder =
        longest.and_then(|lock| lock.holder.as_ref()).map_or_else(String::new, |name| format!("mostly held by {name}"));
    let evidence = vec![
        format!("{waiting:.1} threads wait for locks at a time; {rate:.0} waits per second for this one"),
        format!("{:.0} context switches per second", facts.switches / facts.seconds.max(0.001)),
        holder,
    ];
    if is_convoy {
        Finding {
            cause: "fair-lock-convoy",
            cost,
            sentence: format!(
                "A fair lock bounds it: {name} is handed from thread to thread, {rate:.0} times per second{place}."
            ),
            evidence,
            cure: "an unfair lock (new ReentrantLock()): a running thread may take it again, without a wait for \
                   another one to wake up; or more work each time it is held"
                .to_owned(),
        }
    } else {
        Finding {
            cause: "lock",
            cost,
            sentence: format!(
                "One lock bounds it: {name} is waited for by {waiting:.1} threads at a time{place}{held_in}{doing}."
            ),
            evidence,
            cure: "hold it for less time (no waits, logging or formatting inside), split it, or read without it"
                .to_owned(),
        }
    }
}

/// Finds threads that sleep in the middle of an executor's task.
pub fn sleeps(facts: &Facts) -> Option<Finding> {
    let tasks = facts.threads.iter().filter(|thread| thread.is_worker).flat_map(|thread| &thread.moments);
    // A virtual thread that sleeps holds no worker.
    let is_virtual = |moment: &Moment| moment.frames.iter().any(|frame| &*frame.name == "java.lang.VirtualThread.run");
    let asleep = tasks.filter(|moment| {
        moment.waiting == Waiting::Sleep && waiting::is_of_executor(&moment.frames) && !is_virtual(moment)
    });
    let (mut sum, mut largest) = (0.0, None);
    for moment in asleep {
        sum += moment.share;
        if largest.is_none_or(|(share, _)| share < moment.share) {
            largest = Some((moment.share, moment));
        }
    }
    let (_, moment) = largest.filter(|_| sum >= SLEEPERS_MIN)?;
    let place = waiting::user_frame(&moment.frames).map_or_else(|| "its tasks".to_owned(), |frame| shown(&frame.name));
    Some(Finding {
        cause: "sleep",
        cost: sum / (facts.busy_threads() + sum) * while_processors_are_free(facts),
        sentence: format!(
            "Sleeps bound it: {sum:.1} threads at a time are asleep in the middle of a task, in {place}."
        ),
        evidence: vec![format!(
            "{:.2} processors used of {:.2}",
            facts.cpu_seconds() / facts.seconds,
            facts.processors
        )],
        cure:
            "a wait for the event itself instead of a look now and then; a shorter pause; or a timer that resumes the \
               task without a thread"
                .to_owned(),
    })
}
