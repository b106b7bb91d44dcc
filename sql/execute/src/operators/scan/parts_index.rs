//! Look-ups in a table of several parts that all have an index of the same key, such as the shards of a shared table.
//!
//! Each part looks up all keys, as any may have rows of a key; a shard passes over the keys of others itself. What the
//! parts find is put in the order of the keys.

use std::ops::Range;
use std::sync::Arc;

use yunti_base::{Code, Error, Result};
use yunti_engine::columns::vector::{Value, Vector};
use yunti_sql_plan::{Batch, Found, TableIndex, TableSource};

use super::parts::{Numbered, Origin, PartsSource};
use crate::spill::concat;

/// Keys that are looked up at once.
const KEYS: usize = 1024;
/// Rows that are held until they are in order. Keys with more are looked up one by one, which needs no order.
const ROWS_MAX: usize = 1 << 16;

/// Indexes of all parts.
#[derive(Debug)]
pub(super) struct PartsIndex {
    of: PartsSource,
    /// Index of each part.
    indexes: Vec<Arc<dyn TableIndex>>,
    /// Columns of the key in the whole table.
    key: Vec<usize>,
}

/// Receives the rows that have keys.
type Receive<'r> = dyn FnMut(Found) -> Result<()> + 'r;

impl PartsIndex {
    /// Returns the index of parts; None if one has none, or another key.
    pub fn of(source: &PartsSource) -> Option<PartsIndex> {
        let mut key: Option<Vec<usize>> = None;
        let mut indexes = Vec::new();
        for of in &source.parts {
            let index = of.part.table.source.index()?;
            let whole = |own: &usize| {
                of.part.columns.iter().position(|origin| matches!(origin, Origin::Same(column) if column == own))
            };
            let own = index.key().iter().map(whole).collect::<Option<Vec<usize>>>()?;
            if *key.get_or_insert_with(|| own.clone()) != own {
                return None;
            }
            indexes.push(index);
        }
        Some(PartsIndex { of: source.clone(), indexes, key: key? })
    }

    fn parts(&self) -> impl Iterator<Item = (&Arc<Numbered>, &Arc<dyn TableIndex>)> {
        self.of.parts.iter().zip(&self.indexes)
    }

    /// Calls `found` with what each part finds, part by part, as columns of the whole table.
    fn each(&self, keys: &[Arc<Vector>], columns: &[usize], found: &mut Receive<'_>) -> Result<()> {
        for (of, index) in self.parts() {
            let own = of.own(columns);
            index.look_up(keys, &own, &mut |Found { keys, rows }| {
                found(Found { keys, rows: of.whole(&rows, &own, columns)? })
            })?;
        }
        Ok(())
    }

    /// Returns all that the parts find for some keys, in the order of the keys; None for more rows than are held.
    fn ordered(&self, keys: &[Arc<Vector>], columns: &[usize]) -> Result<Option<Found>> {
        let mut all: Vec<Found> = Vec::new();
        let mut rows = 0;
        let mut is_full = false;
        let looked_up = self.each(keys, columns, &mut |found| {
            rows += found.keys.len();
            is_full = rows > ROWS_MAX;
            all.push(found);
            // The error ends the look-up, and goes no further.
            if is_full { Err(Error::new(Code::Internal, "too many rows")) } else { Ok(()) }
        });
        if is_full {
            return Ok(None);
        }
        looked_up?;
        if all.len() < 2 {
            return Ok(Some(all.pop().unwrap_or(Found { keys: Vec::new(), rows: Batch::default() })));
        }
        let numbers: Vec<u32> = all.iter().flat_map(|found| found.keys.iter().copied()).collect();
        // Rows of one key stay in the order of the parts.
        let mut order: Vec<u32> = (0..numbers.len() as u32).collect();
        order.sort_by_key(|&row| numbers[row as usize]);
        let kinds = columns.iter().map(|&column| self.of.kinds[column]).collect::<Option<Vec<_>>>();
        let kinds = kinds.ok_or_else(|| Error::new(Code::Internal, "a column has a type without a shape"))?;
        let rows = concat(all.into_iter().map(|found| found.rows).collect(), &kinds)?.select(&order);
        let keys = order.iter().map(|&row| numbers[row as usize]).collect();
        Ok(Some(Found { keys, rows: Batch { rows: order.len(), ..rows } }))
    }
}

impl TableIndex for PartsIndex {
    fn key(&self) -> &[usize] {
        &self.key
    }

    fn look_up(&self, keys: &[Arc<Vector>], columns: &[usize], found: &mut Receive<'_>) -> Result<()> {
        let count = keys.first().map_or(0, |first| first.len());
        let some = |rows: Range<usize>| -> Vec<Arc<Vector>> {
            let rows: Vec<u32> = rows.map(|row| row as u32).collect();
            keys.iter().map(|key| Arc::new(key.select(&rows))).collect()
        };
        for begin in (0..count).step_by(KEYS) {
            let rows = begin..count.min(begin + KEYS);
            let mut hand_over = |mut of: Found, begin: usize| {
                of.keys.iter_mut().for_each(|key| *key += begin as u32);
                if of.keys.is_empty() { Ok(()) } else { found(of) }
            };
            match self.ordered(&some(rows.clone()), columns)? {
                Some(of) => hand_over(of, begin)?,
                None => {
                    for row in rows {
                        self.each(&some(row..row + 1), columns, &mut |of| hand_over(of, row))?;
                    }
                }
            }
        }
        Ok(())
    }

    fn rows_of(&self, keys: &[Vec<Value>]) -> Arc<dyn TableSource> {
        let parts = self.parts().map(|(of, index)| of.with_source(index.rows_of(keys))).collect();
        Arc::new(PartsSource { parts, ..self.of.clone() })
    }
}
