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

impl Collector {
    /// Returns the collector with a name such as `G1` or `ParallelGC`.
    pub fn of(name: &str) -> Collector {
        let name = name.to_ascii_lowercase();
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

    /// Returns whether it stops the process to free the old generation.
    pub fn stops_for_old(self) -> bool {
        match self {
            Collector::Parallel | Collector::Serial | Collector::Other => true,
            Collector::G1 | Collector::Z | Collector::Shenandoah => false,
        }
    }
}
