//! Spilling: what was collected becomes a run on the task's local disks, sorted and combined.

use std::sync::Arc;

use yunti_engine::base::Result;
use yunti_engine::collect::collector::Spill;
use yunti_engine::collect::{Collected, Store};

use crate::sorted::{Combining, Counts, TaskSpace};

/// Spills a collector's records.
pub struct Spiller {
    pub space: Arc<TaskSpace>,
    pub combining: Combining,
}

impl Spill for Spiller {
    fn spill(&mut self, store: &Store, collected: &mut Collected) -> Result<()> {
        let Spiller { space, combining } = self;
        let start = space.env.clock.now_ns();
        space.sorted(store, collected, |sorted| space.write_run(|to| space.drain(sorted, combining, to)))?;
        collected.release(store);
        Counts::add(&space.counts.spill_ns, space.env.clock.now_ns() - start);
        Ok(())
    }
}
