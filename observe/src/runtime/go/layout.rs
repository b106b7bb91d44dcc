//! Offsets of fields in the structures of Go's runtime, by its version. They were read from the debugging information
//! of programs that each version built, and are the same on x86-64 and aarch64. A reading checks them before it trusts
//! them, because programs may be built by changed or newer versions.

/// Bytes of a `runtime.g` that are read.
pub const GOROUTINE_BYTES: usize = 344;

/// Offsets in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Second number of the first version with this layout.
    pub since: u32,
    // runtime.g: `stack` is at 0, `m` at 48, `sched` at 56 with sp and pc first.
    pub status: usize,
    pub goid: usize,
    pub reason: usize,
    /// Number of times that it stopped to run, modulo 256.
    pub stops: usize,
    pub start: usize,
    /// List of `runtime.sudog`: channels that it waits for.
    pub waiting: usize,
    pub in_call_sp: usize,
    pub in_call_pc: usize,
    // runtime.sudog
    pub next_wait: usize,
    pub channel: usize,
    /// Offset in `runtime.hchan` of its timer, if a channel has one.
    pub timer: Option<usize>,
    /// Offset in `runtime.pollDesc` of the goroutine that reads; the one that writes is behind it.
    pub reader: usize,
    // runtime.m
    pub thread: usize,
    // runtime.gcControllerState; the percent is at 0.
    pub memory_limit: Option<usize>,
    pub heap_minimum: usize,
    pub heap_goal: usize,
    pub heap_live: usize,
    pub heap_marked: usize,
    // runtime.mstats
    pub pause_ns: usize,
    pub collections: usize,
}

/// Offset of `g.m`.
pub const THREAD_OF: usize = 48;
/// Offset of `g.sched`.
pub const SAVED: usize = 56;

const OF_1_18: Layout = Layout {
    since: 18,
    status: 144,
    goid: 152,
    reason: 176,
    stops: 189,
    start: 312,
    waiting: 328,
    in_call_sp: 112,
    in_call_pc: 120,
    next_wait: 64,
    channel: 80,
    timer: None,
    reader: 24,
    thread: 72,
    memory_limit: None,
    heap_minimum: 8,
    heap_goal: 112,
    heap_live: 120,
    heap_marked: 168,
    pause_ns: 176,
    collections: 4280,
};

const OF_1_19: Layout = Layout {
    since: 19,
    memory_limit: Some(8),
    heap_minimum: 16,
    heap_goal: 128,
    heap_live: 136,
    heap_marked: 184,
    pause_ns: 3600,
    collections: 7704,
    ..OF_1_18
};

const OF_1_20: Layout = Layout { since: 20, heap_goal: 72, heap_live: 80, heap_marked: 128, ..OF_1_19 };

const OF_1_21: Layout = Layout {
    since: 21,
    reader: 32,
    stops: 188,
    start: 296,
    waiting: 312,
    heap_goal: 96,
    heap_live: 104,
    heap_marked: 152,
    ..OF_1_20
};

const OF_1_22: Layout = Layout { since: 22, stops: 191, ..OF_1_21 };

const OF_1_23: Layout = Layout {
    since: 23,
    status: 152,
    goid: 160,
    reason: 184,
    stops: 199,
    start: 304,
    waiting: 320,
    timer: Some(32),
    ..OF_1_22
};

const OF_1_25: Layout = Layout {
    since: 25,
    status: 144,
    goid: 152,
    reason: 176,
    stops: 191,
    start: 296,
    waiting: 312,
    in_call_sp: 104,
    in_call_pc: 112,
    thread: 64,
    pause_ns: 3576,
    collections: 7680,
    ..OF_1_23
};

const OF_1_26: Layout = Layout { since: 26, start: 304, waiting: 320, next_wait: 72, channel: 96, ..OF_1_25 };

/// Layouts by version, the newest first.
const LAYOUTS: [Layout; 8] = [OF_1_26, OF_1_25, OF_1_23, OF_1_22, OF_1_21, OF_1_20, OF_1_19, OF_1_18];

/// Returns the layouts to try, the likeliest first.
///
/// @param minor second number of the version, 0 if it is unknown
pub fn candidates(minor: u32) -> Vec<Layout> {
    let likely = LAYOUTS.iter().find(|layout| minor == 0 || layout.since <= minor);
    let others = LAYOUTS.iter().filter(|layout| Some(layout.since) != likely.map(|likely| likely.since));
    likely.into_iter().chain(others).copied().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layouts_by_version() {
        for (minor, since) in [(18, 18), (22, 22), (24, 23), (25, 25), (26, 26), (30, 26), (0, 26)] {
            assert_eq!(candidates(minor)[0].since, since, "{minor}");
            assert_eq!(candidates(minor).len(), LAYOUTS.len());
        }
    }

    #[test]
    fn fields_are_within_what_is_read() {
        for layout in LAYOUTS {
            let ends = [layout.status + 4, layout.goid + 8, layout.reason + 1, layout.stops + 1, layout.start + 8];
            assert!(ends.iter().all(|end| *end <= GOROUTINE_BYTES) && layout.waiting + 8 <= GOROUTINE_BYTES);
            assert!(layout.in_call_pc == layout.in_call_sp + 8);
        }
    }
}
