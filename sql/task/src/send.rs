//! Rows of a fragment as records: blocks whose keys say where they go.
//!
//! ```text
//!   to a reduction    | partition: u32 | input: u32 | map task: u32 | number: u32 |   big-endian: the order of bytes
//!   to the output     | tag of the stage: u32 |
//! ```
//! So a reduce task gets the rows of one input after the other, and always in the same order.

use std::sync::Arc;

use yunti_base::Result;
use yunti_engine::columns::vector::Vector;
use yunti_sql_execute::operators::join::keys::{self, CodeHashes, Keys};
use yunti_sql_execute::spill::block;
use yunti_sql_plan::Batch;
use yunti_sql_plan::wire::Route;

/// Bytes of the key of a block that goes to a reduction.
pub const KEY_BYTES: usize = 16;
/// Part of the hash that no table and no spilled partition divides by.
const LEVEL: u64 = 0x5951_4c00;

/// Gives records to the engine: key, block.
pub type Emit<'e> = dyn FnMut(&[u8], &[u8]) -> Result<()> + 'e;

/// Makes records of rows.
pub struct Sender {
    to: To,
    block: Vec<u8>,
}

enum To {
    Output { key: [u8; 4] },
    Reduction(Box<ToReduction>),
}

struct ToReduction {
    input: u32,
    keys: Option<Keys>,
    partitions: u32,
    task: u32,
    number: u32,
    codes: CodeHashes,
    hashes: Vec<u64>,
}

impl Sender {
    /// Returns the sender of a stage's own rows.
    pub fn to_output(tag: u32) -> Sender {
        Sender { to: To::Output { key: tag.to_be_bytes() }, block: Vec::new() }
    }

    /// Returns the sender of a fragment's rows to `partitions` tasks. `task` is the number of the own one.
    pub fn to_reduction(route: &Route, partitions: u32, task: u32) -> Result<Sender> {
        let keys = if route.keys.is_empty() { None } else { Some(Keys::new(&route.keys)?) };
        let to = ToReduction {
            input: route.input,
            keys,
            partitions: partitions.max(1),
            task,
            number: 0,
            codes: CodeHashes::default(),
            hashes: Vec::new(),
        };
        Ok(Sender { to: To::Reduction(Box::new(to)), block: Vec::new() })
    }

    /// Sends rows.
    pub fn send(&mut self, batch: &Batch, emit: &mut Emit<'_>) -> Result<()> {
        match &mut self.to {
            To::Output { key } => {
                self.block.clear();
                block::put(&plain(batch), &mut self.block)?;
                emit(&*key, &self.block)
            }
            To::Reduction(to) => {
                let parts = to.parts(batch)?;
                for (partition, rows) in parts.iter().enumerate() {
                    self.block.clear();
                    match rows {
                        None => block::put(&plain(batch), &mut self.block)?,
                        Some(rows) if rows.is_empty() => continue,
                        Some(rows) => block::put(&plain(&batch.select(rows)), &mut self.block)?,
                    }
                    let key = to.key(partition as u32);
                    emit(&key, &self.block)?;
                }
                Ok(())
            }
        }
    }
}

/// Returns the batch without codes of numbers, which a block has not.
fn plain(batch: &Batch) -> Batch {
    let column = |column: &Arc<Vector>| match column.decoded() {
        std::borrow::Cow::Owned(decoded) => Arc::new(decoded),
        std::borrow::Cow::Borrowed(_) => column.clone(),
    };
    Batch { columns: batch.columns.iter().map(column).collect(), rows: batch.rows }
}

impl ToReduction {
    /// Returns the rows of each partition; None: all of them.
    fn parts(&mut self, batch: &Batch) -> Result<Vec<Option<Vec<u32>>>> {
        let Some(keys) = self.keys.as_mut().filter(|_| self.partitions > 1) else { return Ok(vec![None]) };
        let columns = keys.of(batch)?;
        keys::hash_columns(&columns, batch.rows, &mut self.codes, &mut self.hashes);
        let mut parts: Vec<Vec<u32>> = vec![Vec::new(); self.partitions as usize];
        for (row, &hash) in self.hashes.iter().enumerate() {
            // The high bits choose one of any number of partitions.
            let hash = keys::combine(hash, LEVEL) >> 32;
            parts[(hash * u64::from(self.partitions) >> 32) as usize].push(row as u32);
        }
        Ok(parts.into_iter().map(Some).collect())
    }

    fn key(&mut self, partition: u32) -> [u8; KEY_BYTES] {
        let mut key = [0; KEY_BYTES];
        for (to, number) in key.as_chunks_mut::<4>().0.iter_mut().zip([partition, self.input, self.task, self.number]) {
            *to = number.to_be_bytes();
        }
        self.number += 1;
        key
    }
}
