//! Memory that gives way: while a job maps, its budget follows the memory that others leave.
//!
//! ```text
//!   free memory (control group, machine) --> target of the budget --> collectors and tables spill earlier
//! ```
//!
//! A job without `--memory` takes a share of the free memory at its start. Later the share may be smaller: a neighbour
//! in the control group has grown, or the machine has other work. Workers look at it with the progress that they
//! report, ten times a second, so no thread waits. A spill takes about a second, so the target is the share of the
//! memory that will be free then, if the others go on growing as they do.

use std::sync::atomic::{AtomicU64, Ordering};

use super::{SHARE, left_bytes};
use crate::env::sync::{Mutex, MutexGuard};
use crate::env::{Env, System};
use crate::job::report::MemoryLimit;
use crate::memory::Budget;
use crate::memory::budget::size;

/// Interval between two looks at the free memory.
const EACH_NS: u64 = if cfg!(debug_assertions) { 1_000_000 } else { 100_000_000 };
/// Least memory that a job keeps to.
const LEAST_BYTES: u64 = if cfg!(debug_assertions) { 1 << 20 } else { 64 << 20 };
/// Share of the memory below which a change is ignored, so that the target does not follow noise.
const NOTABLE: f64 = 0.1;
/// Seconds until memory comes back that a job should give.
const AHEAD_S: f64 = 2.0;
/// Factor by which the speed of others falls in a second without more.
const FALL_A_SECOND: f64 = 0.3;
/// Share of the memory that others may seem to take, because counters of the kernel are late.
const DOUBT: f64 = 0.04;
/// Changes that the report keeps.
const KEPT_MAX: usize = 1000;

/// Target of a running job's memory.
pub struct Elastic {
    /// False if only requests change the target.
    follows_others: bool,
    next_ns: AtomicU64,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Time of the last look, and the memory that others left then.
    last: Option<(u64, f64)>,
    /// Memory that others left at the first look.
    first: Option<f64>,
    /// Bytes a second that others take. It falls slowly, since programs take memory in steps.
    taken_per_s: f64,
    changes: Vec<MemoryLimit>,
}

impl Elastic {
    /// Returns the target of a job. `follows_others`: false if only requests change the target.
    pub fn new(follows_others: bool) -> Elastic {
        Elastic { follows_others, next_ns: AtomicU64::new(0), state: Mutex::default() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// Returns the share of the memory that will be free when a spill that begins now is done.
    fn available(&self, now_ns: u64, system: &dyn System) -> u64 {
        if !self.follows_others {
            return u64::MAX;
        }
        let room = left_bytes(system) as f64;
        let mut state = self.state();
        if let Some((then_ns, before)) = state.last.replace((now_ns, room)) {
            let seconds = now_ns.saturating_sub(then_ns).max(1) as f64 / 1e9;
            let fallen = state.taken_per_s * FALL_A_SECOND.powf(seconds);
            state.taken_per_s = ((before - room) / seconds).max(fallen);
        }
        if room > *state.first.get_or_insert(room) * (1.0 - DOUBT) {
            state.first = state.first.map(|first| first.max(room));
            return u64::MAX;
        }
        ((room - state.taken_per_s * AHEAD_S).max(0.0) * SHARE) as u64
    }

    /// Sets the target of the budget, if it is time to. `asked`: bytes that a caller wants the job to keep to.
    pub fn follow(&self, budget: &Budget, asked: u64, env: &Env, start_ns: u64) {
        let now = env.clock.now_ns();
        let next = self.next_ns.load(Ordering::Relaxed);
        if now < next {
            return;
        }
        // One worker looks, the others go on.
        if self.next_ns.compare_exchange(next, now + EACH_NS, Ordering::Relaxed, Ordering::Relaxed).is_err() {
            return;
        }
        let available = self.available(now, &*env.system);
        let (limit, before) = (budget.limit_bytes(), budget.target_bytes());
        let target = available.min(asked).clamp(LEAST_BYTES.min(limit), limit);
        let change = (target as f64 - before as f64).abs() / limit as f64;
        // A request, and the way back to the whole budget, are followed to the byte.
        if target == before || (change < NOTABLE && target != asked && target != limit) {
            return;
        }
        budget.set_target(target);
        let at_ms = now.saturating_sub(start_ns) as f64 / 1e6;
        let changes = &mut self.state().changes;
        if changes.len() < KEPT_MAX {
            changes.push(MemoryLimit { at_ms, limit_bytes: target });
        }
        let why = if target < before { "others need it" } else { "it is free again" };
        let seconds = at_ms / 1000.0;
        env.messages.show(&format!("memory: {} -> {} at {seconds:.1} s: {why}", size(before), size(target)));
    }

    /// Returns the changes of the target so far.
    pub fn changes(&self) -> Vec<MemoryLimit> {
        self.state().changes.clone()
    }
}
