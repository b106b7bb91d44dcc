//! Rows that do not fit in memory: blocks of columns in a file without a name, with a checksum each.
//!
//! Nothing is left of the file when the operator ends, however it ends: success, failure, cancellation, or a kill.

pub mod block;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use yunti_base::{Code, Error, Result};
use yunti_engine::columns::kind::Kind;
use yunti_engine::env::Env;
use yunti_engine::operator::context::{SpillSpace, SpilledBytes};
use yunti_engine::run::ScratchSpace;
use yunti_sql_plan::Batch;

use crate::store::size::batch_bytes;
use crate::store::{Rows, column::Values};

/// Bytes of a block, about, at most.
const BLOCK_BYTES_MAX: u64 = 256 << 20;

/// File of an operator; workers share it.
pub struct Spill {
    space: Arc<ScratchSpace>,
    written: AtomicU64,
}

/// Rows in a spill file.
pub struct Block {
    bytes: SpilledBytes,
    pub rows: usize,
    /// Bytes that the rows take in memory, as `store::size::granted_bytes` counts.
    pub granted: u64,
}

impl Spill {
    /// Returns a file in the temporary directory. It is opened at the first write.
    pub fn new(env: &Env) -> Arc<Spill> {
        let space = ScratchSpace::new(env.files.clone(), env.clock.clone(), vec![env.temp_dir.clone()]);
        Arc::new(Spill { space, written: AtomicU64::new(0) })
    }

    /// Writes a batch; adds its blocks to `to`, with `mark`. Errors: `Output` with the directory.
    pub fn write<M: Copy>(&self, batch: &Batch, mark: M, to: &mut Vec<(M, Block)>) -> Result<()> {
        if batch.rows == 0 {
            return Ok(());
        }
        if batch_bytes(batch) > BLOCK_BYTES_MAX && batch.rows > 1 {
            let half = batch.rows as u32 / 2;
            self.write(&batch.select(&(0..half).collect::<Vec<_>>()), mark, to)?;
            return self.write(&batch.select(&(half..batch.rows as u32).collect::<Vec<_>>()), mark, to);
        }
        let mut bytes = Vec::new();
        block::put(batch, &mut bytes)?;
        if u32::try_from(bytes.len()).is_err() {
            return Err(Error::new(Code::Memory, "a row of more than 4 GiB does not fit in a block of a spill file"));
        }
        let spilled = SpillSpace::write(&*self.space, &bytes)?;
        self.written.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        let granted = crate::store::size::granted_bytes(batch);
        to.push((mark, Block { bytes: spilled, rows: batch.rows, granted }));
        Ok(())
    }

    /// Reads a block. Errors: `Corrupt` with the directory.
    pub fn read(&self, of: &Block, kinds: &[Kind]) -> Result<Batch> {
        let mut bytes = vec![0; of.bytes.len as usize];
        SpillSpace::read(&*self.space, &of.bytes, &mut bytes)?;
        block::take(&bytes, kinds)
    }

    /// Frees a block, which is not read afterwards.
    pub fn free(&self, of: &Block) {
        SpillSpace::free(&*self.space, &of.bytes);
    }

    /// Returns the bytes written so far.
    pub fn written_bytes(&self) -> u64 {
        self.written.load(Ordering::Relaxed)
    }
}

/// Returns batches as one.
pub fn concat(mut batches: Vec<Batch>, kinds: &[Kind]) -> Result<Batch> {
    if batches.len() == 1
        && let Some(only) = batches.pop()
    {
        return Ok(only);
    }
    let rows = Rows::of(batches, kinds, 1)?;
    let all: Vec<u32> = (0..rows.len() as u32).collect();
    let columns = rows.into_columns().into_iter().map(|column| {
        let data = match column.values {
            Values::Fixed(data) => data,
            Values::Texts(texts) => texts.gather(&all),
        };
        Arc::new(yunti_engine::columns::vector::Vector { data, nulls: column.nulls })
    });
    Ok(Batch { columns: columns.collect(), rows: all.len() })
}
