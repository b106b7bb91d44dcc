//! Collector of a log, and the settings that the log names.

/// Garbage collector of HotSpot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Collector {
    Serial,
    Parallel,
    Cms,
    G1,
    /// ZGC without generations, JDK 11 to 23.
    Z,
    /// ZGC with generations, from JDK 21 on.
    GenerationalZ,
    Shenandoah,
    /// Shenandoah with generations, from JDK 24 on.
    GenerationalShenandoah,
    Epsilon,
}

impl Collector {
    /// Name as its documentation spells it.
    pub fn name(self) -> &'static str {
        match self {
            Collector::Serial => "Serial",
            Collector::Parallel => "Parallel",
            Collector::Cms => "CMS",
            Collector::G1 => "G1",
            Collector::Z => "ZGC",
            Collector::GenerationalZ => "generational ZGC",
            Collector::Shenandoah => "Shenandoah",
            Collector::GenerationalShenandoah => "generational Shenandoah",
            Collector::Epsilon => "Epsilon",
        }
    }

    /// Returns true if the program runs while the collector moves objects, so that pauses say little about its cost.
    pub fn is_concurrent(self) -> bool {
        use Collector::{GenerationalShenandoah, GenerationalZ, Shenandoah, Z};
        matches!(self, Z | GenerationalZ | Shenandoah | GenerationalShenandoah)
    }

    /// Returns true if the user sets the size of the young generation, by `-Xmn`.
    pub fn has_fixed_young(self) -> bool {
        matches!(self, Collector::Serial | Collector::Parallel | Collector::Cms)
    }

    /// Returns the collector with generations of a collector.
    pub fn with_generations(self) -> Collector {
        match self {
            Collector::Z => Collector::GenerationalZ,
            Collector::Shenandoah => Collector::GenerationalShenandoah,
            other => other,
        }
    }
}

/// Settings of the JVM as far as its log names them; 0 and empty if it does not.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Settings {
    /// Version of the JDK: `17.0.2+8`.
    pub version: String,
    /// Flags of the command line, as JDK 8 writes them.
    pub flags: String,
    /// Largest heap in bytes.
    pub heap_max: u64,
    /// Heap at the start in bytes.
    pub heap_initial: u64,
    /// Smallest heap in bytes.
    pub heap_min: u64,
    /// Region of G1 or Shenandoah in bytes.
    pub region_bytes: u64,
    /// Processors that the JVM may use.
    pub processors: u32,
    /// Memory of the machine or container in bytes.
    pub memory: u64,
    /// Threads of a collection.
    pub workers: u32,
}
