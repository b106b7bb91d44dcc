//! One request of mean times, for a process whose requests are not seen one by one: event loops, goroutines.
//!
//! Connections show how many requests there are and how long calls of other servers take; the processor time is the
//! process's. What requests share is known from the runtime: one event loop, one interpreter lock, groups of workers.

use super::steps::{Step, Used};
use crate::demands::evidence::{Evidence, Runtime};

/// Identities of what a runtime's requests share.
const RUNTIME_LOCK: u32 = 1;
const GROUPS_FROM: u32 = 2;
/// Sum of the times of calls relative to the time with at least one under way, from which on they are made at once.
const AT_ONCE: f64 = 1.2;
/// Difference between the time of a group and of a call, as share of the call, up to which they are the same.
const SAME_TIME: f64 = 0.25;
/// Share of the time that nothing else explains from which on it is a wait of its own.
const UNEXPLAINED_MIN: f64 = 0.3;

/// Name and identity of what all requests of a runtime share.
pub fn runtime_lock(runtime: Runtime) -> Option<(u32, &'static str)> {
    match runtime {
        Runtime::Node => Some((RUNTIME_LOCK, "event loop")),
        Runtime::Python => Some((RUNTIME_LOCK, "interpreter lock (GIL)")),
        Runtime::Jvm | Runtime::Go | Runtime::Native => None,
    }
}

/// Adds what requests share to the places.
pub fn add_objects(evidence: &mut Evidence) {
    if let Some((identity, name)) = runtime_lock(evidence.runtime) {
        evidence.places.add_object(&format!("{identity}|0|{name}|1"));
    }
    for (at, group) in evidence.groups.workers().into_iter().enumerate() {
        let identity = GROUPS_FROM + at as u32;
        evidence.places.add_object(&format!("{identity}|0|goroutines of {}|{}", group.name, group.units));
    }
}

/// Holds the runtime's lock for each stretch of processor time, and leaves out waits for it.
pub fn under_lock(steps: Vec<Step>, identity: u32) -> Vec<Step> {
    let mut all = Vec::with_capacity(steps.len() * 3);
    for step in steps {
        match step {
            Step::Cpu(_) => all.extend([Step::Acquire(identity), step, Step::Release(identity)]),
            Step::Wait(Used::OtherThread, _) => {}
            step => all.push(step),
        }
    }
    all
}

/// Returns the call at which a group of workers works: its time is nearest to the group's own.
fn nearest(held_ms: f64, calls: &[(Used, f64)]) -> Option<usize> {
    let off = |at: usize| (held_ms - calls[at].1).abs();
    (0..calls.len()).min_by(|a, b| off(*a).total_cmp(&off(*b))).filter(|at| off(*at) < calls[*at].1 * SAME_TIME)
}

/// Returns the steps of the mean request; `None` without requests on connections.
pub fn mean_request(evidence: &mut Evidence) -> Option<Vec<Step>> {
    let requests = evidence.requests.take()?;
    let count = requests.inbound.requests;
    if count < 1.0 {
        evidence.requests = Some(requests);
        return None;
    }
    let seconds = evidence.processors.seconds.max(0.001);
    let cpu_ms = evidence.processors.program * 1e3 / count;
    let mut calls: Vec<(Used, f64)> = Vec::new();
    for peer in requests.outbound.iter().filter(|peer| peer.requests > count * 0.01 && !peer.is_poll) {
        let number = evidence.peers.iter().position(|known| *known == peer.peer).unwrap_or_else(|| {
            evidence.peers.push(peer.peer.clone());
            evidence.peers.len() - 1
        });
        calls.push((Used::Peer(number as u16), peer.requests * peer.mean_seconds * 1e3 / count));
    }
    let sum_ms: f64 = calls.iter().map(|(_, ms)| ms).sum();
    let covered: f64 = requests.outbound.iter().map(|peer| peer.covered).sum();
    let is_at_once = calls.len() > 1 && covered > requests.all_outbound.covered * AT_ONCE;
    let groups: Vec<(u32, f64)> = (GROUPS_FROM..)
        .zip(evidence.groups.workers())
        .map(|(identity, group)| (identity, group.at_work * seconds * 1e3 / count))
        .collect();
    let mut steps = vec![Step::Cpu(cpu_ms / 2.0)];
    let mut elapsed_ms = 0.0;
    if is_at_once {
        for (at, (used, ms)) in calls.iter().enumerate() {
            steps.push(Step::Spawn(at as u32 + 1, Used::NoThread, vec![Step::Wait(*used, *ms)]));
            elapsed_ms = ms.max(elapsed_ms);
        }
        steps.push(Step::Join((1..=calls.len() as u32).collect()));
    } else {
        elapsed_ms = sum_ms;
        for (at, (used, ms)) in calls.iter().enumerate() {
            let group = groups.iter().find(|(_, held)| nearest(*held, &calls) == Some(at));
            steps.extend(group.map(|(identity, _)| Step::Acquire(*identity)));
            steps.push(Step::Wait(*used, *ms));
            steps.extend(group.map(|(identity, _)| Step::Release(*identity)));
        }
    }
    let unexplained_ms = requests.inbound.mean_seconds * 1e3 - cpu_ms - elapsed_ms;
    if unexplained_ms > requests.inbound.mean_seconds * 1e3 * UNEXPLAINED_MIN {
        steps.push(Step::Wait(Used::OtherThread, unexplained_ms));
    }
    steps.push(Step::Cpu(cpu_ms / 2.0));
    evidence.requests = Some(requests);
    Some(steps)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_works_at_one_call() {
        let calls = [(Used::Peer(0), 15.9), (Used::Peer(1), 12.9)];
        assert_eq!([12.3, 15.0, 40.0].map(|held| nearest(held, &calls)), [Some(1), Some(0), None]);
        assert_eq!(nearest(1.0, &[]), None);
    }

    #[test]
    fn processor_time_under_the_lock() {
        let steps = vec![Step::Cpu(1.0), Step::Wait(Used::OtherThread, 2.0), Step::Wait(Used::Peer(0), 3.0)];
        let expected = vec![Step::Acquire(1), Step::Cpu(1.0), Step::Release(1), Step::Wait(Used::Peer(0), 3.0)];
        assert_eq!(under_lock(steps, 1), expected);
    }
}
