//! Sizes of a JVM's spaces, by its own counters.

use crate::jvm::PerfData;

/// Parts of the young generation of which survivors of G1 take one (`-XX:SurvivorRatio`).
const G1_SURVIVORS: f64 = 8.0;

/// Sizes of the JVM's spaces, by its own counters at the end of the measurement.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Spaces {
    /// Eden and both survivor spaces.
    pub young: Option<f64>,
    /// One survivor space, as large as it may become.
    pub survivor: Option<f64>,
    /// Old generation, as large as it may become, and its use.
    pub old: Option<f64>,
    pub old_used: Option<f64>,
}

impl Spaces {
    /// Returns the sizes. A collector without generations has none.
    pub fn of(counters: &PerfData) -> Spaces {
        let get = |name: &str| counters.get(&format!("sun.gc.generation.{name}")).filter(|bytes| *bytes > 0.0);
        let is_name = |name: &str, known: &str| {
            counters.text(&format!("sun.gc.generation.{name}")).is_some_and(|text| text == known)
        };
        // Collectors without generations have one space; G1 moves the border of its generations.
        if !is_name("0.space.0.name", "eden") {
            return Spaces::default();
        }
        let collector = counters.text("sun.gc.policy.name").unwrap_or_default();
        let spaces = ["0.space.1", "0.space.2"];
        let largest = |what: &str| spaces.iter().filter_map(|space| get(&format!("{space}.{what}"))).reduce(f64::max);
        let is_g1 = collector == "GarbageFirst";
        let young = get("0.capacity");
        Spaces {
            young,
            // Parallel enlarges survivor spaces when they overflow; G1 lets an eighth of the young generation survive.
            survivor: match (is_g1, collector.starts_with("ParScav")) {
                (true, _) => young.map(|young| young / G1_SURVIVORS),
                (false, true) => largest("maxCapacity"),
                _ => largest("capacity"),
            },
            old: if is_g1 { None } else { get("1.maxCapacity") },
            old_used: get("1.space.0.used"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spaces_by_collector() {
        let counters = |policy: &str, first: &str| {
            let numbers = [
                ("sun.gc.generation.0.capacity", 100),
                ("sun.gc.generation.0.space.0.capacity", 80),
                ("sun.gc.generation.0.space.1.capacity", 8),
                ("sun.gc.generation.0.space.1.maxCapacity", 33),
                ("sun.gc.generation.0.space.2.capacity", 10),
                ("sun.gc.generation.1.maxCapacity", 200),
                ("sun.gc.generation.1.space.0.used", 50),
            ];
            let texts = [("sun.gc.policy.name", policy), ("sun.gc.generation.0.space.0.name", first)];
            Spaces::of(&PerfData::of(&numbers, &texts))
        };
        let parallel = counters("ParScav:MSC", "eden");
        let found = (parallel.young, parallel.survivor, parallel.old, parallel.old_used);
        assert_eq!(found, (Some(100.0), Some(33.0), Some(200.0), Some(50.0)));
        assert_eq!(counters("Copy:MSC", "eden").survivor, Some(10.0));
        let g1 = counters("GarbageFirst", "eden");
        assert_eq!((g1.survivor, g1.old), (Some(12.5), None));
        assert_eq!(counters("ZGC", "space"), Spaces::default());
    }
}
