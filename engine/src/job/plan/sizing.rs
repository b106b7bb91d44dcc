//! Division of the memory budget: buffers of each worker first, the rest for records.

use crate::codec::encode::Compression;
use crate::memory::budget::size;
use crate::operator::cursor::Scratch;
use crate::read::reader::READ_BYTES;
use crate::write::compressor_pool::STEP_BYTES;
use crate::write::part_file::DEFERRED_MAX;
use yunti_base::{Code, Error, Result};

/// Sizes of buffers and shares of memory, for one job.
#[derive(Clone, Copy, Debug)]
pub struct Sizing {
    pub workers: usize,
    /// Bytes of a block of the record pool.
    pub block_bytes: usize,
    pub read_bytes: usize,
    pub staging_bytes: usize,
    /// Bytes of a block of a spilled run.
    pub run_block_bytes: usize,
    /// Bytes that a worker may fill with records before it spills.
    pub share_bytes: u64,
}

impl Sizing {
    /// Divides the share of a worker that folds: bytes for its table, and for records that leave the table.
    pub fn fold_shares(&self) -> (u64, u64) {
        let table = self.share_bytes / 3 * 2;
        (table, self.share_bytes - table)
    }

    /// Divides `budget_bytes` among the workers. `helpers`: splits whose files another worker may decode. `formats`:
    /// bytes that the classes of a worker need to read and write.
    ///
    /// If the budget is too small for `threads` workers, there are fewer. Errors: `Memory` if it is too small for one.
    pub fn make(
        budget_bytes: u64,
        threads: usize,
        splits: usize,
        helpers: usize,
        compress: Option<Compression>,
        formats: u64,
    ) -> Result<Sizing> {
        let mut workers = threads.max(1).min((splits + helpers).max(1).max(threads.min(2)));
        let small = budget_bytes < 256 << 20;
        let block_bytes = if small { 128 << 10 } else { 256 << 10 };
        loop {
            let each = budget_bytes / workers as u64;
            let staging_bytes = (each / 32).clamp(64 << 10, 1 << 20) as usize;
            let run_block_bytes = (each / 64).clamp(16 << 10, 256 << 10) as usize;
            let read_bytes = READ_BYTES;
            // Reader, cursor, staging with deferred writes, and the blocks of the run writer.
            let fixed = (read_bytes + Scratch::BYTES + (1 + DEFERRED_MAX) * staging_bytes + 4 * run_block_bytes) as u64;
            // An encoder, its input, and its output in a buffer that grows.
            let encoding = compress.map_or(0, |c| c.memory_bytes() + (STEP_BYTES + 2 * staging_bytes) as u64);
            let fixed = fixed + encoding + formats;
            let least = fixed + 10 * block_bytes as u64;
            if each < least {
                if workers > 1 {
                    workers -= 1;
                    continue;
                }
                return Err(Error::new(
                    Code::Memory,
                    format!("a memory budget of {} is too small", size(budget_bytes)),
                )
                .hint(format!("give at least --memory {}MiB", least.div_ceil(1 << 20))));
            }
            let filling = workers.min(splits.max(1)) as u64;
            let share_bytes = (budget_bytes - fixed * workers as u64) / filling;
            return Ok(Sizing { workers, block_bytes, read_bytes, staging_bytes, run_block_bytes, share_bytes });
        }
    }
}
