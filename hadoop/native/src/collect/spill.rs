//! Spilling: what was collected becomes a run on the task's local disks, sorted and combined.

use std::sync::Arc;

use yunti_engine::base::Result;
use yunti_engine::collect::collector::Spill;
use yunti_engine::collect::{Collected, Store};

use crate::sorted::{Combine, TaskSpace};

/// Spills a collector's records.
pub struct Spiller {
    pub space: Arc<TaskSpace>,
    pub combiner: Option<Box<dyn Combine>>,
}

impl Spill for Spiller {
    fn spill(&mut self, store: &Store, collected: &mut Collected) -> Result<()> {
        let space = self.space.clone();
        space
            .sorted(store, collected, |sorted| space.write_run(|to| space.drain(sorted, self.combiner.as_mut(), to)))?;
        collected.release(store);
        Ok(())
    }
}
