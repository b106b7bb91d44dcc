//! Resources in general: what N units of work wait for and M have.
//!
//! Units that wait for a lock, a permit or a connection wait at one door: the innermost place of the program or its
//! library. Who holds the resource is in the code behind the door: the innermost function around the door in which
//! other units are at work. What they do there is what everybody waits for in the end: a computation, a peer, a sleep,
//! a disk, or another door.

use std::collections::HashMap;
use std::rc::Rc;

use crate::why::account::settle::door;
use crate::why::account::waiting::{self, Waiting};
use crate::why::causes::runtimes::python;
use crate::why::facts::{Facts, Moment, ThreadFacts};
use yunti_probe::stack::Frame;

/// Waiting units at a time, on average, from which on a door has a queue.
pub const WAITERS_MIN: f64 = 0.25;
/// Working units at a time, on average, from which on a function shows its holders.
const HOLDERS_MIN: f64 = 0.1;

/// Resource with a queue.
#[derive(Clone, Debug)]
pub struct Queue {
    pub door: Rc<str>,
    /// The program's own function that wants it.
    pub wanted_in: Rc<str>,
    pub kind: Waiting,
    /// Function of the language's library through which it is wanted: `Semaphore.acquire`.
    pub through: Option<Rc<str>>,
    /// Units that have waited here.
    pub units: usize,
    /// Units that wait at a time, on average.
    pub waiting: f64,
    /// Units that have it at a time, on average.
    pub holding: f64,
    /// True if the waiting units pass work on, and these others take it: a full queue or channel.
    pub is_stage: bool,
    /// Activity of the holders: kind, the program's own function, and units at a time; the largest first.
    pub held_by: Vec<(Waiting, Rc<str>, f64)>,
}

impl Queue {
    /// Returns the kind of activity that takes most of the holders' time, with its function and its share.
    pub fn held(&self) -> Option<(Waiting, Rc<str>, f64)> {
        let mut kinds: HashMap<Waiting, (f64, Rc<str>)> = HashMap::new();
        for (kind, place, n) in &self.held_by {
            // The list begins with the largest, so the first place of a kind stays.
            kinds.entry(*kind).or_insert_with(|| (0.0, place.clone())).0 += n;
        }
        let (kind, (n, place)) = kinds.into_iter().max_by(|a, b| a.1.0.total_cmp(&b.1.0).then(b.0.cmp(&a.0)))?;
        Some((kind, place, n / self.holding.max(1e-9)))
    }
}

/// Returns the resources with a queue, by waiting units.
pub fn queues(facts: &Facts) -> Vec<Queue> {
    let mut doors: HashMap<Rc<str>, Vec<(usize, &Moment)>> = HashMap::new();
    for (n, thread) in facts.threads.iter().enumerate() {
        for moment in
            thread.moments.iter().filter(|moment| is_queued(moment.waiting) && !is_of_another_rule(&moment.frames))
        {
            if let Some(door) = door(&moment.frames) {
                doors.entry(door).or_default().push((n, moment));
            }
        }
    }
    let mut found: Vec<Queue> = doors.into_iter().filter_map(|(door, moments)| queue(facts, door, &moments)).collect();
    found.sort_by(|a, b| b.waiting.total_cmp(&a.waiting).then_with(|| a.door.cmp(&b.door)));
    found
}

/// Returns true for waits whose holder is known otherwise: of the interpreter's lock, and for the reader of a pipe.
fn is_of_another_rule(frames: &[Frame]) -> bool {
    python::waits_for_gil(frames) || waiting::is_in_pipe_write(frames)
}

fn is_queued(waiting: Waiting) -> bool {
    matches!(waiting, Waiting::Lock | Waiting::Resource)
}

fn queue(facts: &Facts, door: Rc<str>, moments: &[(usize, &Moment)]) -> Option<Queue> {
    let waiting: f64 = moments.iter().map(|(_, moment)| moment.share).sum();
    let largest = moments.iter().max_by(|a, b| a.1.share.total_cmp(&b.1.share))?.1;
    if waiting < WAITERS_MIN {
        return None;
    }
    let mut units: Vec<usize> = moments.iter().map(|(n, _)| *n).collect();
    units.sort_unstable();
    units.dedup();
    let (mut holding, mut held_by) = holders(facts, &door, &largest.frames);
    let is_stage = largest.waiting == Waiting::Resource && holding < HOLDERS_MIN;
    if is_stage {
        (holding, held_by) = takers(facts, &units);
    }
    // Nobody has it and nobody gives it: spare threads wait so for work.
    if largest.waiting == Waiting::Resource && holding < HOLDERS_MIN && !are_woken(facts, &units) {
        return None;
    }
    Some(Queue {
        wanted_in: waiting::user_frame(&largest.frames).map_or_else(|| door.clone(), |frame| frame.name.clone()),
        through: through(&largest.frames, &door),
        door,
        kind: largest.waiting,
        units: units.len(),
        waiting,
        holding,
        is_stage: is_stage && holding >= HOLDERS_MIN,
        held_by,
    })
}

/// Returns the function that the door calls to wait: `Semaphore.acquire`, `net/http.(*Transport).getConn`.
fn through(frames: &[Frame], door: &str) -> Option<Rc<str>> {
    let at = frames.iter().rposition(|frame| &*frame.name == door)?;
    let inner = &frames[at + 1..];
    // Functions of Go's library have its packages in their names.
    let is_go = |frame: &&Frame| frame.name.contains(".(*") && !frame.name.starts_with("runtime.");
    if let Some(code) = inner.iter().rev().find(is_go) {
        return Some(code.name.clone());
    }
    let next = inner.first().filter(|frame| frame.kind.is_java() && frame.name.starts_with("java."))?;
    let (class, method) = next.name.rsplit_once('.')?;
    Some(format!("{}.{method}", class.rsplit_once('.').map_or(class, |(_, name)| name)).into())
}

/// Returns true if threads of the process wake these units, once a second or more.
fn are_woken(facts: &Facts, units: &[usize]) -> bool {
    let ids: Vec<u64> = units.iter().map(|n| facts.threads[*n].id).collect();
    let known = |by: &u64| facts.threads.iter().any(|thread| thread.id == *by);
    let wakes = facts.wakes.iter().filter(|((by, woken), _)| by != woken && ids.contains(woken) && known(by));
    wakes.map(|(_, n)| n).sum::<u64>() as f64 >= facts.seconds
}

/// Share of the wakeups of waiting units by one thread from which on it takes what they pass on.
const TAKER_MIN: f64 = 0.2;
/// Share of its time in which a unit works that takes from units that always wait.
const BUSY_MIN: f64 = 0.8;

/// Finds the units that waiting ones depend on, and what they do: units that wake them, and where wakeups are not
/// known, units that are never without work themselves.
fn takers(facts: &Facts, waiting: &[usize]) -> Holders {
    let ids: Vec<u64> = waiting.iter().map(|n| facts.threads[*n].id).collect();
    let mut wakes: HashMap<u64, u64> = HashMap::new();
    for ((by, _), n) in facts.wakes.iter().filter(|((by, woken), _)| ids.contains(woken) && !ids.contains(by)) {
        *wakes.entry(*by).or_default() += n;
    }
    let all: u64 = wakes.values().sum();
    let are_known = ids.iter().any(|id| facts.wakes.keys().any(|(_, woken)| woken == id));
    let takes = |thread: &&ThreadFacts| {
        let idle = thread.share(Waiting::Idle) + thread.share(Waiting::Sleep) + thread.share(Waiting::Unknown);
        let (shares, wakes) = (thread.shares.values().sum::<f64>(), wakes.get(&thread.id).copied().unwrap_or(0));
        match are_known {
            true => wakes as f64 >= (all as f64 * TAKER_MIN).max(facts.seconds),
            false => !ids.contains(&thread.id) && shares - idle >= BUSY_MIN,
        }
    };
    let takers: Vec<&ThreadFacts> = facts.threads.iter().filter(takes).collect();
    let at_work = |moment: &&Moment| !matches!(moment.waiting, Waiting::Idle | Waiting::Unknown);
    held_in(takers.iter().flat_map(|thread| &thread.moments).filter(at_work), "its loop")
}

/// Sums up what units do, by kind and place.
fn held_in<'a>(moments: impl Iterator<Item = &'a Moment>, around: &str) -> Holders {
    let mut places: HashMap<(Waiting, Rc<str>), f64> = HashMap::new();
    for moment in moments {
        let place = waiting::user_frame(&moment.frames).map_or_else(|| around.into(), |f| f.name.clone());
        *places.entry((moment.waiting, place)).or_default() += moment.share;
    }
    let mut held: Vec<_> = places.into_iter().map(|((kind, place), n)| (kind, place, n)).collect();
    held.sort_by(|a, b| b.2.total_cmp(&a.2).then_with(|| a.1.cmp(&b.1)));
    (held.iter().map(|(.., n)| n).sum(), held)
}

type Holders = (f64, Vec<(Waiting, Rc<str>, f64)>);

/// Finds the innermost function of a waiting stack in which other units are at work, and what they do there.
fn holders(facts: &Facts, at: &str, waiting: &[Frame]) -> Holders {
    let others = || {
        facts.moments().filter(|moment| !is_at(moment, at) && moment.waiting != Waiting::Idle && !gives_back(moment))
    };
    let inner = waiting.iter().rposition(|frame| &*frame.name == at).unwrap_or(0);
    // The outermost frames run any task, and show no holder.
    for around in waiting[..=inner].iter().rev().filter(|frame| !runs_anything(&frame.name)) {
        let within: Vec<&Moment> =
            others().filter(|moment| moment.frames.iter().any(|frame| frame.name == around.name)).collect();
        let sum: f64 = within.iter().map(|moment| moment.share).sum();
        if sum < HOLDERS_MIN {
            continue;
        }
        return held_in(within.into_iter(), &around.name);
    }
    (0.0, Vec::new())
}

/// Returns true if a unit is giving something back. It has it no more.
fn gives_back(moment: &Moment) -> bool {
    const GIVES: [&str; 6] = [
        "Mutex).Unlock",
        "Mutex).unlock",
        "Mutex).RUnlock",
        "ReentrantLock.unlock",
        "mutex_unlock",
        "Semaphore.release",
    ];
    moment.frames.iter().any(|frame| GIVES.iter().any(|gives| frame.name.contains(gives)))
}

fn is_at(moment: &Moment, at: &str) -> bool {
    is_queued(moment.waiting) && door(&moment.frames).is_some_and(|door| &*door == at)
}

/// Returns true for functions that run any kind of work.
fn runs_anything(name: &str) -> bool {
    const RUN: [&str; 14] = [
        "Thread.run",
        "Thread.runWith",
        "VirtualThread.run",
        "runWorker",
        "Worker.run",
        "FutureTask.run",
        "ForkJoin",
        "CompletableFuture",
        "start_thread",
        "clone3",
        "_start",
        "__libc_start",
        "runtime.goexit",
        "runtime.main",
    ];
    RUN.iter().any(|run| name.contains(run))
}

#[cfg(test)]
mod tests {
    use super::*;
    use yunti_probe::stack::Kind;

    fn thread(id: u64, moments: &[(Waiting, &[&str], f64)]) -> ThreadFacts {
        let mut thread = ThreadFacts { id, ..ThreadFacts::default() };
        for (waiting, names, share) in moments {
            let frames: Vec<Frame> = names.iter().map(|n| Frame { name: (*n).into(), kind: Kind::Compiled }).collect();
            thread.add(*waiting, &frames.into(), *share);
        }
        thread
    }

    #[test]
    fn a_pool_of_four_whose_holders_wait_for_a_peer() {
        let wait = ["java.lang.Thread.run", "shop.Orders.load", "com.zaxxer.hikari.util.ConcurrentBag.borrow"];
        let query =
            ["java.lang.Thread.run", "shop.Orders.load", "org.postgresql.PgStatement.execute", "sun.nio.ch.Net.poll"];
        let one = |id| thread(id, &[(Waiting::Resource, &wait, 0.6), (Waiting::Network, &query, 0.4)]);
        let facts = Facts { threads: (1..=10).map(one).collect(), ..Facts::default() };
        let found = queues(&facts);
        let [queue] = &found[..] else { panic!("{found:?}") };
        assert_eq!(&*queue.door, "com.zaxxer.hikari.util.ConcurrentBag.borrow");
        assert_eq!((&*queue.wanted_in, queue.units), ("shop.Orders.load", 10));
        assert!((queue.waiting - 6.0).abs() < 1e-9 && (queue.holding - 4.0).abs() < 1e-9);
        let (kind, place, share) = queue.held().unwrap();
        assert_eq!((kind, &*place), (Waiting::Network, "shop.Orders.load"));
        assert!(share > 0.99);
    }
}
