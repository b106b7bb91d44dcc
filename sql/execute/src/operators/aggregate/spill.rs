//! Groups in files: a table is written as a run of the engine, in the order of its hashes, and read back by ranges of
//! them. Runs have checksums, and their files have no names, so that they vanish with the query.
//!
//! ```text
//!   record    hash (big-endian), words, long texts | states
//!   run       | record | record | ..       by hash, in blocks
//! ```

use std::sync::Arc;

use yunti_base::{Code, Error, Result};
use yunti_engine::bytes::{KeyOrder, Record};
use yunti_engine::run::block::RECORD_BYTES_MAX;
use yunti_engine::run::{
    Block, BlockSource, KeyRange, ReadContext, Run, RunBuilder, RunReader, RunSettings, ScratchSpace, SpillCodec,
};

use super::keys::Layout;
use super::table::{Records, Table, damaged};
use crate::context::Context;

/// Bytes of a block, in a budget that is not small.
const BLOCK_BYTES: usize = 160 << 10;
const BLOCK_BYTES_MIN: usize = 8 << 10;

/// Files of an operator.
pub struct Spill {
    scratch: Arc<ScratchSpace>,
    settings: RunSettings,
    read: ReadContext,
}

impl Spill {
    pub fn new(context: &Context) -> Spill {
        let env = &context.env;
        let share = context.budget.limit_bytes() / (64 * context.threads.max(1) as u64);
        let block_bytes = (share as usize).clamp(BLOCK_BYTES_MIN, BLOCK_BYTES);
        Spill {
            scratch: ScratchSpace::new(env.files.clone(), env.clock.clone(), vec![env.temp_dir.clone()]),
            settings: RunSettings { order: KeyOrder::BYTES, block_bytes, codec: SpillCodec::Auto },
            read: ReadContext { budget: context.budget.clone(), cancelled: context.cancel.flag() },
        }
    }

    /// Writes all groups of a table, which stays as it is.
    pub fn write(&self, table: &Table) -> Result<Run> {
        let builder = RunBuilder::new(self.scratch.clone(), self.settings);
        let mut writer = builder.slice(0);
        let mut bytes = Vec::new();
        for group in table.groups.in_order() {
            bytes.clear();
            let key_len = table.put_key(group as usize, &mut bytes) as u32;
            table.put_states(group as usize, &mut bytes);
            if bytes.len() > RECORD_BYTES_MAX {
                return Err(Error::new(Code::Memory, "one group of an aggregate has more than 2 GiB of values")
                    .hint("give more memory with --memory"));
            }
            writer.append(0, Record { bytes: &bytes, key_len, split: 0 })?;
        }
        let slice = writer.finish()?;
        Ok(builder.finish(vec![slice]))
    }

    /// Calls `f` with the groups of a range of hashes, a block at a time.
    pub fn read(
        &self,
        run: &Arc<Run>,
        (lo, hi): (u64, u64),
        layout: &Layout,
        f: &mut dyn FnMut(&Records) -> Result<()>,
    ) -> Result<()> {
        let mut reader = RunReader::open(run, KeyRange { partition: 0, lo, hi }, false, &self.read);
        let (mut block, mut spare) = (Block::default(), Vec::new());
        let mut records = Records::default();
        while reader.next_block(&mut block, &mut spare)? {
            records.keys.clear();
            records.states.clear();
            records.bytes.clear();
            let mut at = block.start();
            let mut is_sound = true;
            block.decode(&mut at, usize::MAX, KeyOrder::BYTES, |_, entry| {
                let record = block.record(&entry);
                let (mut key, states) = record.bytes.split_at(record.key_len as usize);
                let before = records.bytes.len();
                records.bytes.extend_from_slice(states);
                records.states.push(before..records.bytes.len());
                is_sound &= records.keys.push_encoded(layout, &mut key).is_some() && key.is_empty();
            });
            block.check_end(at).map_err(|e| reader.locate(e))?;
            if !is_sound {
                return Err(reader.locate(damaged()));
            }
            f(&records)?;
        }
        Ok(())
    }
}
