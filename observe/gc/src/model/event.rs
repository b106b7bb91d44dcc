//! Event of a log: a pause with its cause, its heap and its processor time.

/// Kind of a pause.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    Young,
    /// Young collection of G1 that starts a concurrent mark; the initial mark of CMS.
    ConcurrentStart,
    PrepareMixed,
    Mixed,
    Full,
    Remark,
    Cleanup,
    MarkStart,
    MarkEnd,
    RelocateStart,
    UpdateStart,
    UpdateEnd,
    FinalRoots,
    Degenerated,
    Other,
}

impl Kind {
    pub const ALL: [Kind; 15] = [
        Kind::Young,
        Kind::ConcurrentStart,
        Kind::PrepareMixed,
        Kind::Mixed,
        Kind::Full,
        Kind::Remark,
        Kind::Cleanup,
        Kind::MarkStart,
        Kind::MarkEnd,
        Kind::RelocateStart,
        Kind::UpdateStart,
        Kind::UpdateEnd,
        Kind::FinalRoots,
        Kind::Degenerated,
        Kind::Other,
    ];

    /// Name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Young => "young",
            Kind::ConcurrentStart => "concurrent start",
            Kind::PrepareMixed => "prepare mixed",
            Kind::Mixed => "mixed",
            Kind::Full => "full",
            Kind::Remark => "remark",
            Kind::Cleanup => "cleanup",
            Kind::MarkStart => "mark start",
            Kind::MarkEnd => "mark end",
            Kind::RelocateStart => "relocate start",
            Kind::UpdateStart => "init update refs",
            Kind::UpdateEnd => "final update refs",
            Kind::FinalRoots => "final roots",
            Kind::Degenerated => "degenerated",
            Kind::Other => "other",
        }
    }

    /// Returns true for collections that empty the young generation and keep the rest.
    pub fn is_young(self) -> bool {
        matches!(self, Kind::Young | Kind::ConcurrentStart | Kind::PrepareMixed)
    }

    /// Returns true for collections that also free old objects.
    pub fn frees_old(self) -> bool {
        matches!(self, Kind::Mixed | Kind::Full | Kind::Degenerated)
    }
}

/// Used bytes of a space before and after a collection, and its size; all 0 if the log does not name them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Change {
    pub before: u64,
    pub after: u64,
    pub total: u64,
}

impl Change {
    /// Returns true if the log named the space.
    pub fn is_known(&self) -> bool {
        self.before | self.after | self.total != 0
    }

    /// Returns the bytes that the collection freed.
    pub fn freed(&self) -> u64 {
        self.before.saturating_sub(self.after)
    }
}

/// Spaces of a heap, as indices of [`Event::spaces`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Space {
    /// Young generation as a whole, of Serial, Parallel and CMS.
    Young,
    Eden,
    Survivor,
    Old,
    Humongous,
    Metaspace,
}

impl Space {
    pub const ALL: [Space; 6] =
        [Space::Young, Space::Eden, Space::Survivor, Space::Old, Space::Humongous, Space::Metaspace];

    /// Name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Space::Young => "young",
            Space::Eden => "eden",
            Space::Survivor => "survivor",
            Space::Old => "old",
            Space::Humongous => "humongous",
            Space::Metaspace => "metaspace",
        }
    }
}

/// Processor time of a pause in seconds, in steps of 10 ms.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Cpu {
    pub user: f32,
    pub sys: f32,
    pub real: f32,
}

/// Pause of a collector.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Event {
    /// Start in seconds since the start of the first JVM of the log.
    pub start_s: f64,
    pub pause_ms: f64,
    pub kind: Kind,
    /// Cause, an index of [`super::log::Log::causes`].
    pub cause: u16,
    /// Number of the collection in its JVM.
    pub number: u32,
    pub workers: u16,
    /// The collection found no room to copy an object.
    pub is_exhausted: bool,
    /// Whole heap.
    pub heap: Change,
    /// Parts of the heap, by [`Space`].
    pub spaces: [Change; Space::ALL.len()],
    pub cpu: Option<Cpu>,
}

impl Event {
    /// Returns the end in seconds.
    pub fn end_s(&self) -> f64 {
        self.start_s + self.pause_ms / 1000.0
    }

    /// Returns a part of the heap.
    pub fn space(&self, space: Space) -> &Change {
        &self.spaces[space as usize]
    }
}
