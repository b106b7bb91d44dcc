//! Bounds of a total order over the partitions, from a sample of what the mapper emits.
//!
//! The sample depends on the input, the split size and the seed alone, so that partitions are the same whatever the memory and the
//! threads: the first bytes of up to 64 splits, evenly spread, through fresh mappers.

use std::sync::Arc;

use super::mapping::{make_mapper, read_setup};
use super::running::Running;
use crate::base::{KeyOrder, Result};
use crate::env::random::Random;
use crate::job::spec::Partitioning;
use crate::operator::cursor::{HEADER_BYTES, Scratch, copied};
use crate::operator::{Emitter, Sink, TaskContext};
use crate::read::SplitReader;

const SPLITS_MAX: usize = 64;
/// Bytes that are read of a sampled split.
const SAMPLE_BYTES: usize = if cfg!(debug_assertions) { 512 } else { 64 << 10 };
const KEYS_A_SPLIT: usize = 1000;
/// A longer key decides as well by its beginning.
const KEY_BYTES_MAX: usize = 1024;

/// The least normalised key of each partition but the first.
pub fn partition_bounds(running: &Running<'_>) -> Result<Arc<Vec<Vec<u8>>>> {
    let plan = running.plan;
    if plan.partitions == 1 || running.spec.partitioning != Partitioning::TotalOrder || plan.splits.is_empty() {
        return Ok(Arc::default());
    }
    let mut setup = read_setup(running);
    setup.read_bytes = SAMPLE_BYTES;
    let mut random = Random::new(running.seed());
    let mut keys: Vec<Vec<u8>> = Vec::new();
    let n = plan.splits.len().min(SPLITS_MAX);
    for i in 0..n {
        let split = &plan.splits[i * plan.splits.len() / n];
        // A pipe can be read only once.
        if split.pieces.iter().any(|p| plan.files[p.file as usize].is_stream) {
            continue;
        }
        let mut reader = SplitReader::new(setup.clone())?;
        reader.begin(split);
        let context = TaskContext::new(running.settings.clone(), false, split.number, plan.partitions);
        let (mut mapper, _) = make_mapper(plan, &context)?;
        let mut emitter = Emitter::new(KeySink::new(plan.order)?, false, false)?;
        if let Some(batch) = reader.next_batch()? {
            emitter.run(batch.data(), |out| mapper.map(&batch, out))?;
        }
        let mut found = emitter.finish()?.keys;
        while found.len() > KEYS_A_SPLIT {
            let out = random.below(found.len() as u64) as usize;
            found.swap_remove(out);
        }
        keys.append(&mut found);
    }
    keys.sort_unstable_by(|a, b| plan.order.compare(a, b));
    let mut bounds: Vec<Vec<u8>> = Vec::new();
    for p in 1..plan.partitions as usize {
        if let Some(key) = keys.get(p * keys.len() / plan.partitions as usize)
            && bounds.last() != Some(key)
        {
            bounds.push(key.clone());
        }
    }
    Ok(Arc::new(bounds))
}

struct KeySink {
    order: KeyOrder,
    block: Scratch,
    keys: Vec<Vec<u8>>,
}

impl KeySink {
    fn new(order: KeyOrder) -> Result<Self> {
        Ok(KeySink { order, block: Scratch::new()?, keys: Vec::new() })
    }

    fn add(&mut self, key: &[u8]) {
        let mut key = key[..key.len().min(KEY_BYTES_MAX)].to_vec();
        self.order.normalise(&mut key);
        self.keys.push(key);
    }
}

impl Sink for KeySink {
    fn begin(&mut self) -> Result<(*mut u8, usize)> {
        Ok(self.block.block())
    }
    fn filled(&mut self, len: usize, _: usize, _: &[u8]) -> Result<(*mut u8, usize)> {
        let found: Vec<(usize, usize)> =
            copied(self.block.bytes(len)).map(|(at, klen, _)| (at + HEADER_BYTES, klen)).collect();
        for (at, klen) in found {
            let key = self.block.bytes(len)[at..at + klen].to_vec();
            self.add(&key);
        }
        Ok(self.block.block())
    }
    fn big(&mut self, key: &[u8], _: &[u8]) -> Result<(*mut u8, usize)> {
        self.add(key);
        Ok(self.block.block())
    }
}
