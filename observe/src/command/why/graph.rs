//! The graph on the page of an answer: where the processor time goes, or what the threads wait for, as the first
//! cause requires.

use std::iter::once;

use super::WAITS;
use crate::why::{Facts, Finding, Waiting};
use yunti_probe::answer::Graph;
use yunti_probe::stack::{Frame, Kind, Tree};

/// Causes that hold up threads which wait.
const OF_WAITS: [&str; 28] = [
    "connection-per-request",
    "database-lock",
    "deadlock",
    "directory-scan",
    "dirty-throttling",
    "executor",
    "fair-lock-convoy",
    "fsync-storm",
    "full-executor-queue",
    "full-pipe",
    "io-limit",
    "journal",
    "listen-overflow",
    "lock",
    "nagle-delayed-ack",
    "packet-loss",
    "pinned-virtual-threads",
    "pool",
    "pool-of-one",
    "read-ahead-too-small",
    "sleep",
    "slow-dns",
    "slow-receiver",
    "slow-remote",
    "stage",
    "swapped-out",
    "time-wait-exhaustion",
    "unanswered-connects",
];

/// Returns the graph of an answer, and a tree of the processor time.
///
/// @param cause the first cause, if there is one
pub fn of(facts: &Facts, cause: Option<&Finding>) -> (Option<Graph>, Tree) {
    let mut processor = Tree::default();
    facts.on_cpu.iter().for_each(|(frames, n)| processor.add(frames.iter(), *n));
    let waits = cause.filter(|cause| OF_WAITS.contains(&cause.cause)).and_then(|_| {
        // Milliseconds.
        Graph::of("Time of the threads, by what they wait for", waits(facts), 1e3)
    });
    (waits.or_else(|| Graph::of("Processor time", processor.clone(), 0.0)), processor)
}

/// Returns the time of all threads that have work, in milliseconds, below headings of what they do.
fn waits(facts: &Facts) -> Tree {
    let mut tree = Tree::default();
    for moment in facts.moments() {
        let Some((_, heading)) = WAITS.iter().find(|(waiting, _)| *waiting == moment.waiting) else { continue };
        let time = (moment.share * facts.seconds * 1e3).round() as u64;
        if moment.waiting != Waiting::Idle && time > 0 {
            let heading = Frame { name: (*heading).into(), kind: Kind::Group };
            tree.add(once(&heading).chain(moment.frames.iter()), time);
        }
    }
    tree
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::why::{Moment, ThreadFacts};

    #[test]
    fn a_wait_has_its_graph() {
        let frame = |name: &str| Frame { name: name.into(), kind: Kind::Compiled };
        let moment = |waiting, name: &str, share| Moment { waiting, frames: [frame(name)].into(), share };
        let thread = ThreadFacts {
            moments: vec![moment(Waiting::Lock, "Shop.buy", 0.9), moment(Waiting::Idle, "Pool.take", 0.1)],
            ..ThreadFacts::default()
        };
        let on_cpu = vec![([frame("Shop.add")].into(), 7)];
        let facts = Facts { seconds: 2.0, threads: vec![thread], on_cpu, ..Facts::default() };
        let cause =
            |cause| Finding { cause, cost: 0.9, sentence: String::new(), evidence: Vec::new(), cure: String::new() };
        let (graph, processor) = of(&facts, Some(&cause("lock")));
        let graph = graph.unwrap();
        assert!(graph.title.contains("wait for"));
        assert_eq!((graph.tree.total(), processor.total()), (1800, 7));
        assert_eq!(of(&facts, Some(&cause("hot-method"))).0.unwrap().title, "Processor time");
        assert_eq!(of(&facts, None).0.unwrap().tree.total(), 7);
    }
}
