//! Spilling: what was collected becomes a run on the task's local disks, sorted and combined.

use std::sync::Arc;

use yunti_engine::base::Result;
use yunti_engine::collect::collector::Spill;
use yunti_engine::collect::{Collected, Store};

use super::summed::Summing;
use crate::sorted::{Combine, TaskSpace};

/// Spills a collector's records.
pub struct Spiller {
    pub space: Arc<TaskSpace>,
    pub combiner: Option<Box<dyn Combine>>,
    /// The combiner is a native sum.
    pub sums: bool,
}

impl Spill for Spiller {
    fn spill(&mut self, store: &Store, collected: &mut Collected) -> Result<()> {
        let Spiller { space, combiner, sums } = self;
        space.sorted(store, collected, |sorted| {
            space.write_run(|to| match sums {
                true => space.drain(&mut Summing::new(sorted), None, to),
                false => space.drain(sorted, combiner.as_mut(), to),
            })
        })?;
        collected.release(store);
        Ok(())
    }
}
