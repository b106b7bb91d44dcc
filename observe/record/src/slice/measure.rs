//! Measure: the cost that a profile counts.

/// Cost that a profile counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Measure {
    /// Processor time in nanoseconds.
    Cpu,
    /// Wall time of threads in nanoseconds.
    Wall,
    /// Bytes that were allocated.
    Alloc,
    /// Nanoseconds that threads waited for locks.
    Lock,
}

impl Measure {
    /// All measures, in the order of their values in a sample.
    pub const ALL: [Measure; 4] = [Measure::Cpu, Measure::Wall, Measure::Alloc, Measure::Lock];

    /// Returns the name, which is also the type of a pprof sample.
    pub fn name(self) -> &'static str {
        match self {
            Measure::Cpu => "cpu",
            Measure::Wall => "wall",
            Measure::Alloc => "alloc",
            Measure::Lock => "lock",
        }
    }

    /// Returns the unit of values.
    pub fn unit(self) -> &'static str {
        if self == Measure::Alloc { "bytes" } else { "nanoseconds" }
    }

    /// Returns the measure of a name, or `None` for other text.
    pub fn from_name(name: &str) -> Option<Measure> {
        Measure::ALL.into_iter().find(|measure| measure.name() == name)
    }
}
