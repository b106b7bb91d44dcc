//! Collector of a JVM, by the name that a measurement gives it.

use serde::Serialize;

/// Collectors that behave and are set in different ways.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Collector {
    Parallel,
    Serial,
    G1,
    Z,
    Shenandoah,
    Other,
}

/// Processors that a pause is assumed to keep busy, at most.
const PARALLEL_MAX: f64 = 4.0;

impl Collector {
    /// Returns the collector with a name such as `G1` or `ParallelGC`.
    pub fn of(name: &str) -> Collector {
        let name = name.to_ascii_lowercase();
        // Collectors of several modes have the mode before their name.
        let name = name.strip_prefix("generational ").unwrap_or(&name);
        let known = [
            ("parallel", Collector::Parallel),
            ("ps ", Collector::Parallel),
            ("serial", Collector::Serial),
            ("g1", Collector::G1),
            ("z", Collector::Z),
            ("shenandoah", Collector::Shenandoah),
        ];
        known.iter().find(|(start, _)| name.starts_with(start)).map_or(Collector::Other, |(_, collector)| *collector)
    }

    /// Returns whether it works beside the requests: it costs processor time, not pauses, and has no young size to set.
    pub fn is_concurrent(self) -> bool {
        matches!(self, Collector::Z | Collector::Shenandoah)
    }

    /// Returns the processors that a pause keeps busy, of some available ones.
    ///
    /// On larger machines, pauses seldom use all processors; there this is a lower end.
    pub fn parallelism(self, available: f64) -> f64 {
        match self {
            Collector::Serial => 1.0,
            _ => available.clamp(1.0, PARALLEL_MAX),
        }
    }

    /// Returns whether it stops the process to free the old generation.
    pub fn stops_for_old(self) -> bool {
        match self {
            Collector::Parallel | Collector::Serial | Collector::Other => true,
            Collector::G1 | Collector::Z | Collector::Shenandoah => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_collectors() {
        for (name, expect) in [
            ("ParallelGC", Collector::Parallel),
            ("PS Scavenge", Collector::Parallel),
            ("G1", Collector::G1),
            ("ZGC", Collector::Z),
            ("generational ZGC", Collector::Z),
            ("generational Shenandoah", Collector::Shenandoah),
            ("CMS", Collector::Other),
            ("", Collector::Other),
        ] {
            assert_eq!(Collector::of(name), expect, "{name}");
        }
        assert!(Collector::Z.is_concurrent() && !Collector::G1.is_concurrent());
    }
}
