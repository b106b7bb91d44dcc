//! One request of mean times, for a process whose requests are not seen one by one: event loops, goroutines.
//!
//! Connections show how many requests there are and how long calls of other servers take; processor time is that of the
//! process. What requests share is known from the runtime: one event loop, one interpreter lock, groups of workers.

use std::collections::{BTreeMap, HashMap};

use super::measure::{Evidence, Runtime};
use super::steps::{Step, Used};
use crate::runtime::{Sighting, Waiting};

/// Identities of what a runtime's requests share.
const RUNTIME_LOCK: u32 = 1;
const GROUPS_FROM: u32 = 2;
/// Sum of the times of calls relative to the time with at least one under way, from which on they are made at once.
const AT_ONCE: f64 = 1.2;
/// Share of the time that nothing else explains from which on it is a wait of its own.
const UNEXPLAINED_MIN: f64 = 0.3;
/// Units of a group of workers.
const GROUP_MAX: u64 = 10_000;
/// Share of units at work below which a group does not serve these requests.
const WORKS_MIN: f64 = 0.001;

/// Share of the looks with as many units as usual from which on a group has a fixed size.
const FIXED: f64 = 0.9;

/// Units of a runtime that begin in one function, over time.
#[derive(Clone, Debug, Default)]
struct Group {
    /// Looks by number of units.
    sizes: BTreeMap<u64, u64>,
    units: u64,
    /// Waiting units by the depth of their stacks.
    waiting: BTreeMap<usize, u64>,
}

impl Group {
    /// Returns the units at work over all looks. A unit waits for work where its stack is shortest.
    fn at_work(&self) -> u64 {
        self.units - self.waiting.first_key_value().map_or(0, |(_, idle)| *idle)
    }
}

/// Groups of workers: as many units of one function at any time, which wait for work between tasks.
#[derive(Debug, Default)]
pub struct Groups {
    all: BTreeMap<String, Group>,
    looks: u64,
}

/// Group of units as a reader sees it.
#[derive(Clone, Debug, PartialEq)]
pub struct GroupFacts {
    pub name: String,
    /// Usual number of units.
    pub units: u64,
    /// True if there are always as many.
    pub is_fixed: bool,
    /// Mean number of units at work.
    pub at_work: f64,
}

impl Groups {
    /// Adds all units of one moment.
    pub fn add(&mut self, units: &[Sighting]) {
        self.looks += 1;
        let mut now: HashMap<&str, u64> = HashMap::new();
        for unit in units {
            let Some(first) = unit.frames.iter().find(|frame| frame.name.contains('.')) else { continue };
            *now.entry(&first.name).or_default() += 1;
            let group = self.all.entry(first.name.to_string()).or_default();
            group.units += 1;
            if unit.waiting != Waiting::Not {
                *group.waiting.entry(unit.frames.len()).or_default() += 1;
            }
        }
        for (name, count) in now {
            *self.all.entry(name.to_owned()).or_default().sizes.entry(count).or_default() += 1;
        }
    }

    /// Returns all groups, these with most units at work first.
    pub fn facts(&self) -> Vec<GroupFacts> {
        let looks = self.looks.max(1) as f64;
        let of = |(name, group): (&String, &Group)| {
            let (units, times) = group.sizes.iter().max_by_key(|(_, times)| **times).map_or((0, 0), |(u, t)| (*u, *t));
            let is_fixed = times as f64 >= looks * FIXED;
            GroupFacts { name: name.clone(), units, is_fixed, at_work: group.at_work() as f64 / looks }
        };
        let mut all: Vec<GroupFacts> = self.all.iter().map(of).collect();
        all.sort_by(|a, b| b.at_work.total_cmp(&a.at_work).then_with(|| a.name.cmp(&b.name)));
        all
    }

    /// Returns groups of fixed size that work for requests.
    fn workers(&self) -> Vec<GroupFacts> {
        let serves = |group: &GroupFacts| group.is_fixed && (2..GROUP_MAX).contains(&group.units);
        self.facts().into_iter().filter(|group| serves(group) && group.at_work > WORKS_MIN).collect()
    }
}

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
            steps.push(Step::Spawn(at as u32 + 1, Used::OtherThread, vec![Step::Wait(*used, *ms)]));
            elapsed_ms = ms.max(elapsed_ms);
        }
        steps.push(Step::Join((1..=calls.len() as u32).collect()));
    } else {
        elapsed_ms = sum_ms;
        // A group of workers works at the calls whose time is nearest to its own.
        for (used, ms) in &calls {
            let group = groups.iter().find(|(_, held)| (held - ms).abs() < ms * 0.25);
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
    use yunti_probe::stack::{Frame, Kind};

    #[test]
    fn groups_of_workers() {
        let unit = |stack: &str, waiting| Sighting {
            unit: 1,
            name: "g".into(),
            waiting,
            frames: stack
                .split(' ')
                .map(|name| Frame { name: name.into(), kind: Kind::Native })
                .collect::<Vec<_>>()
                .into(),
        };
        let mut groups = Groups::default();
        for look in 0..10 {
            let busy = unit("main.worker http.Get net.Read", Waiting::Network);
            let handlers = vec![unit("http.serve", Waiting::Network); look];
            let workers = vec![unit("main.worker", Waiting::Result), busy, unit("main.worker sum", Waiting::Not)];
            groups.add(&[workers, handlers].concat());
        }
        let found = groups.workers();
        assert_eq!(found.len(), 1);
        assert_eq!((&*found[0].name, found[0].units, found[0].at_work), ("main.worker", 3, 2.0));
    }

    #[test]
    fn processor_time_under_the_lock() {
        let steps = vec![Step::Cpu(1.0), Step::Wait(Used::OtherThread, 2.0), Step::Wait(Used::Peer(0), 3.0)];
        let expected = vec![Step::Acquire(1), Step::Cpu(1.0), Step::Release(1), Step::Wait(Used::Peer(0), 3.0)];
        assert_eq!(under_lock(steps, 1), expected);
    }
}
