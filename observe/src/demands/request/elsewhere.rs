//! Steps of a request that ends on another thread than it began on.
//!
//! Each part of it is a task on the threads that run it, so that it holds a thread only while it runs. What leads from
//! one part to the next is a task that the request has handed over; if none is known, it is a wait.
//!
//! ```text
//!   thread A   [ part 1, hands a task over ]
//!   thread B                        [ the task, hands part 2 over ]
//!   thread A                                                         [ part 2 .. answered ]
//!   steps      spawn 1 on A's pool [ .. spawn 2 on B's pool [ .. spawn 3 on A's pool [ .. ] ] ], join 3
//! ```

use super::requests::Request;
use super::steps::{Builder, Followed, Step, Used};
use super::timeline::Span;

/// Time between an end and what it causes that is no wait.
const AT_ONCE_NS: u64 = 50_000;

/// Returns the steps of a request.
pub fn steps(builder: &Builder<'_>, request: &Request) -> Vec<Step> {
    let mut followed = Followed::new(request.end_ns);
    let mut steps = Vec::new();
    for (at, part) in request.parts.iter().enumerate() {
        let is_known = |(run, _): &(Span, u32)| run.holds(part.thread, part.begin_ns);
        if followed.runs.iter().any(is_known) {
            continue;
        }
        if at > 0 {
            wait(&mut steps, &followed, part.begin_ns);
        }
        let number = followed.next();
        followed.runs.push((*part, number));
        let (of_part, _) = builder.of_span(part, &mut followed, 0);
        steps.push(Step::Spawn(number, builder.threads(part), of_part));
    }
    let last = followed.runs.iter().rev().find(|(run, _)| run.holds(request.end_thread, request.end_ns));
    match last {
        Some((_, number)) => steps.push(Step::Join(vec![*number])),
        None => wait(&mut steps, &followed, request.end_ns),
    }
    followed.finish(steps)
}

/// Adds the wait for the last known task that ended before a time, and for what is unknown from then on.
fn wait(steps: &mut Vec<Step>, followed: &Followed, until_ns: u64) {
    let ended = followed.runs.iter().filter(|(run, _)| run.end_ns <= until_ns + AT_ONCE_NS);
    let Some((run, number)) = ended.max_by_key(|(run, _)| run.end_ns) else { return };
    steps.push(Step::Join(vec![*number]));
    let ns = until_ns.saturating_sub(run.end_ns);
    if ns > AT_ONCE_NS {
        steps.push(Step::Wait(Used::OtherThread, ns as f64 / 1e6));
    }
}
