//! One thread that works all the time, while processors are free: an event loop, a dispatcher, a writer, or a program
//! of one thread. More processors would not help it.

use std::collections::HashMap;
use std::rc::Rc;

use crate::why::account::waiting::{self, Waiting, shown};
use crate::why::causes::finding::{Finding, of_processor, percent};
use crate::why::causes::processor::hot::innermost_within;
use crate::why::causes::processor::saturated::{free, is_loop, saturated};
use crate::why::facts::Facts;

/// Functions named, and their share of the thread's time from which on.
const FUNCTIONS_MAX: usize = 3;
const FUNCTION_MIN: f64 = 0.03;
/// Share of its time in which a thread waits for others from which on it counts as one that waits for this one.
const WAITER_MIN: f64 = 0.5;
/// Share of a thread's wakeups by this one from which on it waits for it.
const WOKEN_MIN: f64 = 0.5;

pub fn one_thread(facts: &Facts) -> Option<Finding> {
    let load = saturated(facts)?;
    let seconds = facts.seconds.max(0.001);
    let share = ((load.ran_seconds + load.queued_seconds) / seconds).min(1.0);
    let functions = functions(facts, load.tid);
    let most: Vec<String> = functions.iter().map(|(name, part)| shown_with_inner(facts, name, *part)).collect();
    let most = if most.is_empty() { String::new() } else { format!(", above all in {}", most.join(", ")) };
    let waiters = waiters(facts, load.tid);
    let waiters = match waiters {
        0 => String::new(),
        1 => "; 1 thread waits for it".to_owned(),
        n => format!("; {n} threads wait for it"),
    };
    let free = free(facts);
    let (cause, who, cure) = if is_loop(facts, load) {
        (
            "event-loop",
            "The one thread of its event loop bounds it: it".to_owned(),
            "more processes behind one port (cluster, a process manager, a load balancer), and worker threads for what \
             computes",
        )
    } else {
        (
            "one-thread",
            format!("One thread bounds it: {}", load.name),
            "move work from it to other threads, divide it by key or by connection (more event loops, shards, \
             partitions), or run several processes",
        )
    };
    Some(Finding {
        cause,
        cost: share * of_processor(facts),
        sentence: format!(
            "{who} works {} of the time while {free:.1} processors are free{most}{waiters}.",
            percent(share)
        ),
        evidence: vec![
            format!("thread {} ({}): {:.1} s on a processor in {seconds:.1} s", load.tid, load.name, load.ran_seconds),
            format!(
                "all other threads of the process: {:.2} processors; other processes: {:.2}",
                (facts.cpu_seconds() - load.ran_seconds).max(0.0) / seconds,
                facts.others_processors()
            ),
        ],
        cure: cure.to_owned(),
    })
}

/// Returns the program's own functions with most of a thread's processor time, and their shares of it.
fn functions(facts: &Facts, tid: u32) -> Vec<(Rc<str>, f64)> {
    let mut sums: HashMap<Rc<str>, f64> = HashMap::new();
    let mut add = |frames: &[yunti_probe::stack::Frame], n: f64| {
        if let Some(frame) = waiting::user_frame(frames) {
            *sums.entry(frame.name.clone()).or_default() += n;
        }
    };
    let thread = facts.threads.iter().find(|thread| thread.id == u64::from(tid));
    let running = |moment: &&crate::why::facts::Moment| moment.waiting == Waiting::Not;
    let moments = thread.map_or(&[][..], |thread| &thread.moments);
    let mut all: f64 = moments.iter().filter(running).map(|moment| moment.share).sum();
    moments.iter().filter(running).for_each(|moment| add(&moment.frames, moment.share));
    if all <= 0.0 {
        // The stacks are not of threads. This one has nearly all of them.
        all = facts.on_cpu.iter().map(|(_, n)| *n as f64).sum();
        facts.on_cpu.iter().for_each(|(frames, n)| add(frames, *n as f64));
    }
    let mut functions: Vec<(Rc<str>, f64)> = sums.into_iter().map(|(name, n)| (name, n / all.max(1e-9))).collect();
    functions.retain(|(_, share)| *share >= FUNCTION_MIN);
    functions.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    functions.truncate(FUNCTIONS_MAX);
    functions
}

/// Share of a function's time from which on a function that it calls has most of it.
const INNER_MIN: f64 = 0.6;

/// Returns a function with its share, and the innermost one that has most of its time: `total (74 %, most of it in
/// memmove)`.
fn shown_with_inner(facts: &Facts, name: &Rc<str>, share: f64) -> String {
    let inner = innermost_within(facts, name, INNER_MIN).filter(|inner| inner != name);
    let inner = inner.map_or_else(String::new, |inner| format!(", most of it in {}", shown(&inner)));
    format!("{} ({}{inner})", shown(name), percent(share))
}

/// Returns the number of threads that wait for a result most of the time, and are woken by this one.
fn waiters(facts: &Facts, tid: u32) -> usize {
    let waits = |waiting| move |thread: &crate::why::facts::ThreadFacts| thread.share(waiting);
    let is_waiter = |thread: &&crate::why::facts::ThreadFacts| {
        let woken = |by: Option<u64>| -> u64 {
            let edges =
                facts.wakes.iter().filter(|((from, to), _)| *to == thread.id && by.is_none_or(|by| by == *from));
            edges.map(|(_, n)| n).sum()
        };
        let (by_it, all) = (woken(Some(tid.into())), woken(None));
        waits(Waiting::Result)(thread) + waits(Waiting::Resource)(thread) >= WAITER_MIN
            && by_it > 0
            && by_it as f64 >= all as f64 * WOKEN_MIN
    };
    facts.threads.iter().filter(|thread| thread.id != u64::from(tid)).filter(is_waiter).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runtime::event_loop::EventLoop;
    use crate::why::causes::findings;
    use crate::why::facts::{ThreadFacts, ThreadLoad};
    use yunti_probe::stack::{Frame, Kind};
    use yunti_probe::target::Neighbour;

    /// A process with a thread of this load and others, each with its share of the time.
    fn facts(shares: &[f64], processors: f64, functions: &[(&str, u64)]) -> Facts {
        let load = |(n, share): (usize, &f64)| ThreadLoad {
            tid: n as u32 + 1,
            name: format!("t{n}"),
            ran_seconds: share * 10.0,
            queued_seconds: 0.0,
        };
        let thread = |(n, share): (usize, &f64)| ThreadFacts {
            id: n as u64 + 1,
            shares: [(Waiting::Not, *share), (Waiting::Idle, 1.0 - share)].into(),
            ..ThreadFacts::default()
        };
        let frames = |name: &str| -> Rc<[Frame]> { [Frame { name: name.into(), kind: Kind::Native }].into() };
        Facts {
            seconds: 10.0,
            processors,
            user_seconds: shares.iter().sum::<f64>() * 10.0,
            loads: shares.iter().enumerate().map(load).collect(),
            threads: shares.iter().enumerate().map(thread).collect(),
            on_cpu: functions.iter().map(|(name, n)| (frames(name), *n)).collect(),
            ..Facts::default()
        }
    }

    fn cause(facts: &Facts) -> Option<&'static str> {
        one_thread(facts).map(|found| found.cause)
    }

    const MANY: [(&str, u64); 4] = [("a", 40), ("b", 30), ("c", 20), ("d", 10)];

    #[test]
    fn one_thread_of_many() {
        let found = one_thread(&facts(&[0.98, 0.1, 0.05], 4.0, &MANY)).unwrap();
        assert_eq!(found.cause, "one-thread");
        assert!(
            found.sentence.contains("t0 works 98 % of the time while 2.9 processors are free, above all in a (40 %)")
        );
        let event_loop = Some(EventLoop { tid: 1, ..EventLoop::default() });
        assert_eq!(cause(&Facts { event_loop, ..facts(&[0.98, 0.1], 4.0, &MANY) }), Some("event-loop"));
    }

    #[test]
    fn not_paced_threads_nor_divided_work_nor_full_machines() {
        assert_eq!(cause(&facts(&[0.7, 0.1], 4.0, &MANY)), None);
        assert_eq!(cause(&facts(&[0.97, 0.9], 4.0, &MANY)), None);
        assert_eq!(cause(&facts(&[0.97], 1.0, &MANY)), None);
        let neighbours = vec![Neighbour { seconds: 30.0, ..Neighbour::default() }];
        assert_eq!(cause(&Facts { others: neighbours, ..facts(&[0.97], 4.0, &MANY) }), None);
    }

    #[test]
    fn a_hot_function_is_told_with_its_thread() {
        let facts = facts(&[0.98], 4.0, &[("distance", 90), ("b", 10)]);
        let found = findings(&facts);
        assert!(found[0].sentence.contains("on one thread (t0)"), "{}", found[0].sentence);
        assert!(found.iter().all(|found| found.cause != "one-thread"));
    }
}
