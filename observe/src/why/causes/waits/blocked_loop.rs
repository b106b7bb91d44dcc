//! An event loop that waits: its thread is in a call that blocks, and serves nobody.

use std::collections::HashMap;
use std::rc::Rc;

use crate::why::account::waiting::{self, Waiting, shown};
use crate::why::causes::finding::{Finding, percent, while_processors_are_free};
use crate::why::causes::runtimes::python;
use crate::why::causes::waits::workers::doing;
use crate::why::facts::{Facts, Moment, ThreadFacts};
use yunti_probe::stack::Frame;

/// Functions that run an event loop, by parts of their names.
const LOOPS: [&str; 17] = [
    "NioEventLoop.run",
    "EpollEventLoop.run",
    "IOUringEventLoop.run",
    "SingleThreadIoEventLoop.run",
    "SingleThreadEventExecutor",
    "run_once",
    "run_forever",
    "uv_run",
    "uv__run",
    "tokio::runtime::scheduler",
    "event_base_loop",
    "ev_run",
    "aeProcessEvents",
    "g_main_context_iterat",
    "boost::asio::detail::scheduler::run",
    "EventMachine",
    "asyncio/runners.py",
];
/// Share of a loop's time in blocking calls from which on it counts.
const BLOCKED_MIN: f64 = 0.3;

pub fn blocked_loop(facts: &Facts) -> Option<Finding> {
    let found = facts.threads.iter().filter_map(|thread| Some((thread, blocked(thread)?)));
    let (thread, (share, largest)) = found.max_by(|a, b| a.1.0.total_cmp(&b.1.0))?;
    if share < BLOCKED_MIN {
        return None;
    }
    let place =
        waiting::user_frame(&largest.frames).map_or_else(|| "a callback".to_owned(), |frame| shown(&frame.name));
    let doing = doing(facts, largest.waiting).map(singular)?;
    Some(Finding {
        cause: "blocked-event-loop",
        cost: share * while_processors_are_free(facts),
        sentence: format!(
            "An event loop is blocked: its thread {} {doing} in {place} for {} of the time, and serves nobody else \
             then.",
            thread.name,
            percent(share)
        ),
        evidence: vec![format!(
            "{:.2} processors used of {:.2}",
            facts.cpu_seconds() / facts.seconds,
            facts.processors
        )],
        cure: "an asynchronous call there, or the blocking call on a thread of its own (executor, run_in_executor, \
               spawn_blocking, worker thread)"
            .to_owned(),
    })
}

/// Returns the share of a loop's time in calls that block, and the moment with the most of it.
fn blocked(thread: &ThreadFacts) -> Option<(f64, &Moment)> {
    let blocking = |moment: &&Moment| {
        use Waiting::{File, Lock, NameService, Network, Resource, Result, Sleep};
        matches!(moment.waiting, File | Lock | NameService | Network | Resource | Result | Sleep)
            && runs_loop(&moment.frames)
            && !python::waits_for_gil(&moment.frames)
    };
    let mut places: HashMap<Option<Rc<str>>, (f64, &Moment)> = HashMap::new();
    let mut sum = 0.0;
    for moment in thread.moments.iter().filter(blocking) {
        sum += moment.share;
        let place = waiting::user_frame(&moment.frames).map(|frame| frame.name.clone());
        places.entry(place).or_insert((0.0, moment)).0 += moment.share;
    }
    let (_, (_, moment)) = places.into_iter().max_by(|a, b| a.1.0.total_cmp(&b.1.0).then_with(|| b.0.cmp(&a.0)))?;
    Some((sum, moment))
}

/// Returns true if a stack is of a callback of a loop: the loop's function has called the program's own code.
fn runs_loop(frames: &[Frame]) -> bool {
    let Some(at) = frames.iter().position(|frame| LOOPS.iter().any(|sign| frame.name.contains(sign))) else {
        return false;
    };
    waiting::user_frame(&frames[at + 1..]).is_some()
}

/// Turns `wait for x` into `waits for x`.
fn singular(doing: String) -> String {
    match doing.split_once(' ') {
        Some((verb, rest)) => format!("{verb}s {rest}"),
        None => format!("{doing}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use yunti_probe::stack::Kind;

    #[test]
    fn a_callback_that_waits() {
        let frames = |names: &[&str]| -> Rc<[Frame]> {
            names.iter().map(|name| Frame { name: (*name).into(), kind: Kind::Compiled }).collect()
        };
        let mut thread = ThreadFacts { name: "vert.x-eventloop-thread-0".into(), ..ThreadFacts::default() };
        thread.add(Waiting::Network, &frames(&["io.netty.NioEventLoop.run", "a.Trams.nearest", "java.Net.poll"]), 0.7);
        thread.add(Waiting::Idle, &frames(&["io.netty.NioEventLoop.run", "sun.nio.ch.SelectorImpl.select"]), 0.3);
        let facts = Facts { seconds: 1.0, processors: 2.0, threads: vec![thread], ..Facts::default() };
        let found = blocked_loop(&facts).unwrap();
        assert!(found.sentence.contains("vert.x-eventloop-thread-0 waits for"), "{}", found.sentence);
        assert!(found.sentence.contains("a.Trams.nearest for 70 %"), "{}", found.sentence);
        let mut idle = ThreadFacts::default();
        idle.add(Waiting::Network, &frames(&["a.Client.ask", "java.Net.poll"]), 0.9);
        assert!(blocked_loop(&Facts { threads: vec![idle], ..Facts::default() }).is_none());
    }
}
