//! Waits for work, and waits for what others hold.
//!
//! A thread that takes from a queue looks the same in both cases: an idle worker waits for a task, and a borrower waits
//! for a permit or a connection. Who wakes it tells them apart: permits come back from threads that wait for such
//! permits at other times, work comes from elsewhere. A thread that is in the middle of an executor's task waits for
//! what it needs.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use crate::why::account::waiting::{self, Waiting};
use crate::why::facts::{Facts, Moment, ThreadFacts};
use yunti_probe::stack::Frame;

/// Share of the wakeups of waiting threads that come from threads of the same group, from which on they pass something
/// on to each other. Workers wake each other too: who takes a task from a queue that has more signals the next one, and
/// threads of Python pass on the interpreter's lock.
const PASSED_ON: f64 = 0.6;
/// The same at the door of a library: its users are woken for other reasons too, for answers and for results.
const PASSED_ON_OF_LIBRARY: f64 = 0.3;
/// Wakeups that show who wakes whom.
const WAKES_MIN: u64 = 5;

/// Makes idle what waits for work.
pub fn settle(facts: &mut Facts) {
    let mut groups: HashMap<Rc<str>, HashSet<u64>> = HashMap::new();
    for thread in &facts.threads {
        for moment in &thread.moments {
            if let Some(door) = may_be_idle(moment).then(|| door(&moment.frames)).flatten() {
                groups.entry(door).or_default().insert(thread.id);
            }
        }
    }
    // The JVM's own threads wake all others: at the end of a pause, and for the profiler's signals.
    let known: HashSet<u64> = facts.threads.iter().map(|thread| thread.id).collect();
    let wakes: HashMap<(u64, u64), u64> =
        facts.wakes.iter().filter(|((by, _), _)| known.contains(by)).map(|(edge, n)| (*edge, *n)).collect();
    let passed_on: HashMap<Rc<str>, bool> =
        groups.into_iter().map(|(door, units)| (door.clone(), is_passed_on(&wakes, &door, &units))).collect();
    for thread in &mut facts.threads {
        let is_worker = thread.is_worker;
        let idle: Vec<usize> = thread
            .moments
            .iter()
            .enumerate()
            .filter(|(_, moment)| may_be_idle(moment) && !is_within_task(is_worker, &moment.frames))
            .filter(|(_, moment)| {
                door(&moment.frames).is_none_or(|door| !passed_on.get(&door).copied().unwrap_or(false))
            })
            .map(|(n, _)| n)
            .collect();
        idle.into_iter().for_each(|n| make_idle(thread, n));
    }
}

/// Returns the name of the place at which a stack waits.
pub fn door(frames: &[Frame]) -> Option<Rc<str>> {
    waiting::own_frame(frames).map(|frame| frame.name.clone())
}

fn may_be_idle(moment: &Moment) -> bool {
    matches!(moment.waiting, Waiting::Resource | Waiting::Result | Waiting::Unknown)
        && (waiting::takes_work(&moment.frames) || moment.frames.is_empty())
}

/// Returns true if an executor's thread waits within a task.
fn is_within_task(is_worker: bool, frames: &[Frame]) -> bool {
    is_worker && waiting::is_of_executor(frames) && !frames.iter().any(|frame| frame.name.ends_with(".getTask"))
        || waiting::is_called_back(frames)
}

fn is_passed_on(wakes: &HashMap<(u64, u64), u64>, door: &str, units: &HashSet<u64>) -> bool {
    let least = if waiting::is_of_third_party(door) { PASSED_ON_OF_LIBRARY } else { PASSED_ON };
    let (mut within, mut all) = (0, 0);
    for ((by, woken), n) in wakes {
        if by != woken && units.contains(woken) {
            all += n;
            within += if units.contains(by) { *n } else { 0 };
        }
    }
    units.len() > 1 && all >= WAKES_MIN && within as f64 >= all as f64 * least
}

fn make_idle(thread: &mut ThreadFacts, n: usize) {
    let Moment { waiting, share, ref frames } = thread.moments[n];
    let place = door(frames);
    *thread.shares.entry(waiting).or_default() -= share;
    *thread.shares.entry(Waiting::Idle).or_default() += share;
    if let Some(place) = place {
        *thread.waits_in.entry((waiting, place.clone())).or_default() -= share;
        *thread.waits_in.entry((Waiting::Idle, place)).or_default() += share;
    }
    thread.moments[n].waiting = Waiting::Idle;
}

#[cfg(test)]
mod tests {
    use super::*;
    use yunti_probe::stack::Kind;

    fn thread(id: u64) -> ThreadFacts {
        let names = ["a.Worker.run", "java.util.concurrent.ArrayBlockingQueue.take", "LockSupport.park"];
        let frames: Vec<Frame> = names.iter().map(|n| Frame { name: (*n).into(), kind: Kind::Compiled }).collect();
        let mut thread = ThreadFacts { id, ..ThreadFacts::default() };
        thread.add(Waiting::Resource, &frames.into(), 0.9);
        thread
    }

    fn idle(wakes: &[((u64, u64), u64)]) -> f64 {
        let mut facts = Facts {
            threads: vec![thread(1), thread(2), ThreadFacts { id: 9, ..ThreadFacts::default() }],
            ..Facts::default()
        };
        facts.wakes = wakes.iter().copied().collect();
        settle(&mut facts);
        facts.threads_waiting(Waiting::Idle)
    }

    #[test]
    fn workers_are_idle_and_borrowers_wait() {
        // Tasks come from thread 9; permits go from thread to thread.
        assert!(idle(&[((9, 1), 50), ((9, 2), 50)]) > 1.7);
        assert!(idle(&[((2, 1), 50), ((1, 2), 50), ((9, 2), 3)]) < 0.1);
    }
}
