//! Wakeups of a process's threads, counted by who woke whom: `bpf/wakes.bpf.c`.

use std::collections::HashMap;

use libbpf_rs::{Link, Object};
use yunti_base::Result;

use crate::programs::{Settings, attached, half, load, map, program, values_by_key, word};
use crate::target::Process;

static IMAGE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/wakes.bpf.o"));

/// Number of something else than a thread of the process: an interrupt, a timer, another process.
pub const OUTSIDE: u32 = 0;

/// Program at work, detached when dropped.
pub struct Wakes {
    _link: Link,
    object: Object,
}

impl Wakes {
    /// Begins to count for a process.
    pub fn start(process: &Process) -> Result<Wakes> {
        let object = load(IMAGE, Settings { pid: process.pid, ..Settings::default() }, &["wakes"])?;
        let link = program(&object, "wakes")?.attach_raw_tracepoint("sched_waking");
        let link = attached("the tracepoint sched_waking", process, link)?;
        Ok(Wakes { _link: link, object })
    }

    /// Returns the wakeups since the start: (waker or [`OUTSIDE`], woken thread) -> count.
    pub fn edges(&self) -> HashMap<(u32, u32), u64> {
        let Ok(map) = map(&self.object, "edges") else { return HashMap::new() };
        values_by_key(&map).into_iter().map(|(key, n)| ((half(&key, 0, 0), half(&key, 0, 1)), word(&n, 0))).collect()
    }
}
