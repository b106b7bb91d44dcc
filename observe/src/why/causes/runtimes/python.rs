//! Causes in a Python process: the interpreter's lock (GIL) and its cyclic collector.

use crate::runtime::python::{COLLECTOR, GIL};
use crate::why::causes::finding::{Finding, of_processor, percent, while_processors_are_free};
use crate::why::facts::Facts;
use std::collections::HashMap;
use std::rc::Rc;
use yunti_probe::stack::{Frame, Kind};

/// Threads that wait for the lock at a time, on average, from which on they count.
const WAITERS_MIN: f64 = 0.25;
/// Share of the time in which the lock is taken, from which on it bounds at all, and from which on in full.
const HELD_MIN: f64 = 0.5;
const HELD: f64 = 0.9;
/// Share of the processor time in the collector from which on it counts.
const COLLECTING_MIN: f64 = 0.1;

/// Returns true for frames that are states of the interpreter, not functions.
pub fn is_state(name: &str) -> bool {
    name == GIL || name == COLLECTOR
}

/// Returns true if a stack waits for the interpreter's lock.
pub fn waits_for_gil(frames: &[Frame]) -> bool {
    frames.last().is_some_and(|frame| &*frame.name == GIL)
}

/// Finds threads that wait for the lock of their interpreter, of which one has it nearly all the time.
pub fn gil(facts: &Facts) -> Option<Finding> {
    let interpreter = facts.interpreter.as_ref()?;
    let waiting = interpreter.waiting;
    let saturation = ((interpreter.held - HELD_MIN) / (HELD - HELD_MIN)).clamp(0.0, 1.0);
    if waiting < WAITERS_MIN || saturation <= 0.0 {
        return None;
    }
    // A function of the library may have nearly all of the time, called from nowhere in the program: pickling, for one.
    let of_library = innermost_python(facts);
    let place = of_library.or_else(|| facts.own_function(|_| true));
    let place = place.map_or_else(String::new, |(name, share)| format!(", above all {name} ({})", percent(share)));
    let threads = facts.threads.iter().filter(|thread| thread.moments.iter().any(|it| waits_for_gil(&it.frames)));
    Some(Finding {
        cause: "gil",
        cost: waiting / facts.busy_threads().max(0.01) * saturation * while_processors_are_free(facts),
        sentence: format!(
            "The interpreter's lock (GIL) bounds it: one thread at a time runs Python{place}, and {waiting:.1} others \
             wait for their turn."
        ),
        evidence: vec![
            format!("{}: the lock is held {} of the time", interpreter.name, percent(interpreter.held.min(1.0))),
            format!("{} threads waited for it", threads.count()),
            format!("{:.2} processors used of {:.2}", facts.cpu_seconds() / facts.seconds.max(0.001), facts.processors),
        ],
        cure:
            "processes instead of threads (multiprocessing, ProcessPoolExecutor, more workers of the server); work in \
               libraries that release the lock (NumPy and others in C); or Python without the lock (3.13t and later)"
                .to_owned(),
    })
}

/// Share of the processor time from which on one function of Python has most of it.
const MOST_MIN: f64 = 0.6;

/// Returns the innermost function of Python, also of its library, that has most of the processor time.
fn innermost_python(facts: &Facts) -> Option<(Rc<str>, f64)> {
    let all: u64 = facts.on_cpu.iter().map(|(_, n)| n).sum();
    let mut sums: HashMap<&Rc<str>, u64> = HashMap::new();
    for (frames, n) in &facts.on_cpu {
        let is_function = |frame: &&Frame| frame.kind == Kind::Python && !is_state(&frame.name);
        if let Some(frame) = frames.iter().rfind(is_function) {
            *sums.entry(&frame.name).or_default() += n;
        }
    }
    let (name, n) = sums.into_iter().max_by(|a, b| a.1.cmp(&b.1).then_with(|| b.0.cmp(a.0)))?;
    let share = n as f64 / all.max(1) as f64;
    (share >= MOST_MIN).then(|| (name.clone(), share))
}

/// Finds a cyclic collector that takes much of the processor time.
pub fn collector(facts: &Facts) -> Option<Finding> {
    let interpreter = facts.interpreter.as_ref()?;
    let collects = |frames: &[Frame]| frames.iter().any(|frame| &*frame.name == COLLECTOR);
    let share = facts.cpu_share(collects);
    if share < COLLECTING_MIN {
        return None;
    }
    let place = facts.own_function(collects).map_or_else(String::new, |(name, _)| format!(", above all in {name}"));
    Some(Finding {
        cause: "python-collector",
        cost: share * of_processor(facts),
        sentence: format!(
            "Python's cyclic garbage collector bounds it: {} of its processor time{place}, because many objects that \
             stay are searched again and again.",
            percent(share)
        ),
        evidence: vec![
            format!("{}: a collection runs {} of the time", interpreter.name, percent(interpreter.collecting)),
            "collections start after a number of new containers (gc.get_threshold()), and search all that are old \
             enough"
                .to_owned(),
        ],
        cure: "gc.freeze() after the start, so that long-lived objects are not searched; a higher threshold \
               (gc.set_threshold(50_000, 20, 50)); or gc.disable() where nothing makes cycles"
            .to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runtime::python::InterpreterFacts;
    use crate::why::account::waiting::Waiting;
    use crate::why::facts::ThreadFacts;
    use yunti_probe::stack::Kind;

    fn facts(moments: &[(u64, Waiting, &[&str], f64)]) -> Facts {
        let mut facts = Facts { seconds: 10.0, processors: 4.0, user_seconds: 9.8, ..Facts::default() };
        for (id, waiting, names, share) in moments {
            let frames = names.iter().map(|name| Frame { name: (*name).into(), kind: Kind::Python }).collect();
            let mut thread = ThreadFacts { id: *id, ..ThreadFacts::default() };
            thread.add(*waiting, &frames, *share);
            if *waiting == Waiting::Not {
                facts.on_cpu.push((frames, (share * 100.0) as u64));
            }
            facts.threads.push(thread);
        }
        facts
    }

    #[test]
    fn one_thread_at_a_time_runs_python() {
        let names = ["handle shop/orders.py:7", "total shop/orders.py:2"];
        let waits = [names[0], names[1], GIL];
        let mut facts = facts(&[(1, Waiting::Not, &names, 1.0), (2, Waiting::Lock, &waits, 0.9)]);
        let name = "CPython 3.11".to_owned();
        facts.interpreter = Some(InterpreterFacts { name, held: 0.98, waiting: 0.9, collecting: 0.0 });
        let found = gil(&facts).unwrap();
        assert!(found.cost > 0.4 && found.sentence.contains("total shop/orders.py:2 (100 %)"), "{found:?}");
        // Half of the time nobody has the lock, so nobody waits long for it.
        facts.interpreter.as_mut().unwrap().held = 0.4;
        assert!(gil(&facts).is_none());
    }

    #[test]
    fn collections() {
        let mut facts = facts(&[(1, Waiting::Not, &["parse shop/feed.py:3", COLLECTOR], 0.6)]);
        assert!(collector(&facts).is_none());
        facts.interpreter = Some(InterpreterFacts::default());
        let found = collector(&facts).unwrap();
        assert!(found.cost > 0.5 && found.sentence.contains("parse shop/feed.py:3"), "{found:?}");
    }
}
