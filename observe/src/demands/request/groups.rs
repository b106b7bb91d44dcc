//! Groups of units of work that begin in one function: goroutines.

use std::collections::{BTreeMap, HashMap};

use crate::runtime::{Sighting, Waiting};

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
    pub fn workers(&self) -> Vec<GroupFacts> {
        let serves = |group: &GroupFacts| group.is_fixed && (2..GROUP_MAX).contains(&group.units);
        self.facts().into_iter().filter(|group| serves(group) && group.at_work > WORKS_MIN).collect()
    }
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
}
