//! Groups and settings that the workers of an aggregate share.

use std::sync::{Arc, Mutex, MutexGuard};

use yunti_base::Result;
use yunti_sql_plan::Expression;

use super::fused::Fused;
use super::keys::KeyRows;
use super::partitions::Partitions;
use super::table::{Feed, KeysAlone, Table};

/// Groups that all workers together have in one table, at most, if no worker has more than fit in its own.
const SMALL_GROUPS: usize = 64 << 10;
/// Memory of a query in which workers have an index of numbers.
const NUMBER_INDEX_BYTES: u64 = 128 << 20;

/// The state of all workers; a sink, see `worker.rs`.
pub struct Shared {
    pub partitions: Arc<Partitions>,
    pub keys: Vec<Expression>,
    pub sets: Vec<Vec<usize>>,
    pub has_number_index: bool,
    /// The aggregates as code, with the stages before them.
    pub fused: Option<Fused>,
    /// Groups of workers that have few.
    small: Mutex<Table>,
}

impl Shared {
    pub fn new(
        partitions: Partitions,
        keys: &[Expression],
        sets: &[Vec<usize>],
        fused: Option<Fused>,
    ) -> Result<Shared> {
        let plan = &partitions.plan;
        let small = Mutex::new(Table::new(&plan.layout, 0, &plan.calls, Some(partitions.budget()))?);
        let has_number_index = partitions.budget().limit_bytes() >= NUMBER_INDEX_BYTES;
        let partitions = Arc::new(partitions);
        Ok(Shared { partitions, keys: keys.to_vec(), sets: sets.to_vec(), has_number_index, fused, small })
    }

    fn lock(&self) -> MutexGuard<'_, Table> {
        self.small.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// Adds the groups of a worker's table, if all together are few and there is memory; false: none was added.
    pub fn add_small(&self, table: &Table) -> Result<bool> {
        let small = &mut *self.lock();
        if small.groups.len() + table.groups.len() > SMALL_GROUPS {
            return Ok(false);
        }
        // Memory for all at once, so that it is all or nothing.
        if !small.grow_for(&table.groups) {
            return Ok(false);
        }
        let all: Vec<u32> = (0..table.groups.len() as u32).collect();
        self.add_all(small, table, &all)?;
        Ok(true)
    }

    /// Makes the group of a key without a row, for an aggregate or a set that has no keys.
    pub fn add_key(&self, key: KeyRows) -> Result<()> {
        let small = &mut *self.lock();
        self.add_all(small, &KeysAlone(key), &[0])
    }

    fn add_all(&self, small: &mut Table, feed: &impl Feed, rows: &[u32]) -> Result<()> {
        let mut at = 0;
        while at < rows.len() {
            let (done, shortage) = small.absorb(feed, &rows[at..])?;
            at += done;
            if let Some(shortage) = shortage
                && !small.grow(shortage)
            {
                self.partitions.make_room()?;
            }
        }
        // What the states took by themselves; the next use of the budget sees it.
        small.settle();
        Ok(())
    }

    /// Returns the only table if no group went to the partitions; otherwise its groups go there too.
    pub fn finish(self) -> Result<(Arc<Partitions>, Option<Table>)> {
        let Shared { partitions, small, .. } = self;
        let small = small.into_inner().unwrap_or_else(|e| e.into_inner());
        let is_only = (0..partitions.len()).all(|number| partitions.size(number) == (0, false));
        if is_only {
            return Ok((partitions, Some(small)));
        }
        let all: Vec<u32> = (0..small.groups.len() as u32).collect();
        partitions.add(&[(&small, &all)])?;
        Ok((partitions, None))
    }
}
