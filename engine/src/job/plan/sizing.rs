//! Division of the memory budget: buffers of each worker first, the rest for records.

use crate::codec::encode::Compression;
use crate::memory::budget::size;
use crate::operator::cursor::Scratch;
use crate::read::reader::READ_BYTES;
use crate::run::{RunSettings, writer_memory_bytes};
use crate::write::compressor_pool::STEP_BYTES;
use crate::write::part_file::DEFERRED_MAX;
use yunti_base::{Code, Error, Result};

/// Bytes of a read or write of a file, at least, unless the budget is tiny.
const IO_BYTES_MIN: usize = 128 << 10;
/// Bytes of a run's block and of the staging, at least, in a tiny budget.
const TINY: (usize, usize) = (16 << 10, 64 << 10);

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
    /// If the budget is too small for `threads` workers, there are fewer: that costs less than small reads and writes.
    /// Blocks are smaller than `IO_BYTES_MIN` only if one worker has too little memory for them. Errors: `Memory` if
    /// the budget is too small even so.
    pub fn make(
        budget_bytes: u64,
        threads: usize,
        splits: usize,
        helpers: usize,
        compress: Option<Compression>,
        formats: u64,
    ) -> Result<Sizing> {
        let most = threads.max(1).min((splits + helpers).max(1).max(threads.min(2)));
        let mut least = 0;
        for (run_block_min, staging_min) in [(RunSettings::BLOCK_BYTES_MIN, IO_BYTES_MIN), TINY] {
            for workers in (1..=most).rev() {
                let each = budget_bytes / workers as u64;
                let staging_bytes = (each / 32).clamp(staging_min as u64, 1 << 20) as usize;
                let run_block_bytes = (each / 64).clamp(run_block_min as u64, RunSettings::BLOCK_BYTES as u64) as usize;
                let block_bytes = if budget_bytes < 256 << 20 { 128 << 10 } else { 256 << 10 };
                let read_bytes = READ_BYTES;
                // Reader, cursor, staging with deferred writes, and the run writer.
                let fixed = (read_bytes + Scratch::BYTES + (1 + DEFERRED_MAX) * staging_bytes) as u64
                    + writer_memory_bytes(run_block_bytes);
                // An encoder, its input, and its output in a buffer that grows.
                let encoding = compress.map_or(0, |c| c.memory_bytes() + (STEP_BYTES + 2 * staging_bytes) as u64);
                let fixed = fixed + encoding + formats;
                least = fixed + 10 * block_bytes as u64;
                if each < least {
                    continue;
                }
                let filling = workers.min(splits.max(1)) as u64;
                let share_bytes = (budget_bytes - fixed * workers as u64) / filling;
                return Ok(Sizing { workers, block_bytes, read_bytes, staging_bytes, run_block_bytes, share_bytes });
            }
        }
        Err(Error::new(Code::Memory, format!("a memory budget of {} is too small", size(budget_bytes)))
            .hint(format!("give at least --memory {}MiB", least.div_ceil(1 << 20))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::reader_memory_bytes;

    fn sizing(kib: u64, threads: usize) -> Result<Sizing> {
        Sizing::make(kib << 10, threads, 1000, 0, None, 0)
    }

    #[test]
    fn blocks_keep_their_size_in_small_budgets() {
        for mib in [4, 6, 8, 12, 16, 24, 32, 48, 64, 128, 1024] {
            for threads in [1, 2, 3, 8, 64] {
                let s = sizing(mib << 10, threads).unwrap();
                assert!(s.run_block_bytes >= RunSettings::BLOCK_BYTES_MIN, "{mib} MiB, {threads} threads: {s:?}");
                assert!(s.staging_bytes >= IO_BYTES_MIN, "{mib} MiB, {threads} threads: {s:?}");
                assert!(s.workers >= 1 && s.workers <= threads);
                // What is left for the merge reads several runs at once.
                let readers = (mib << 20) / s.workers as u64 * 3 / 4 / reader_memory_bytes(s.run_block_bytes);
                assert!(readers > 8, "{mib} MiB, {threads} threads: {readers} readers, {s:?}");
            }
        }
        assert_eq!(sizing(48 << 10, 2).unwrap().run_block_bytes, 256 << 10);
        assert_eq!(sizing(48 << 10, 2).unwrap().workers, 2);
    }

    #[test]
    fn fixed_buffers_and_shares_fit_in_the_budget() {
        for kib in [2500, 3000, 3500, 4000, 5000, 9000, 20_000, 70_000] {
            for threads in [1, 2, 5] {
                let Ok(s) = sizing(kib, threads) else { continue };
                let fixed = (s.read_bytes + Scratch::BYTES + (1 + DEFERRED_MAX) * s.staging_bytes) as u64
                    + writer_memory_bytes(s.run_block_bytes);
                assert!((fixed + s.share_bytes) * s.workers as u64 <= kib << 10, "{kib} KiB, {threads} threads: {s:?}");
                assert!(s.share_bytes >= 10 * s.block_bytes as u64);
            }
        }
        // One worker with small blocks is the last resort.
        assert!(sizing(2500, 4).is_ok_and(|s| s.workers == 1 && s.run_block_bytes < RunSettings::BLOCK_BYTES_MIN));
        assert!(sizing(1024, 1).unwrap_err().hint_text().unwrap().starts_with("give at least --memory 2MiB"));
    }
}
