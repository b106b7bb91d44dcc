//! The store of a job's collected records: it maps places to records and to their order of emission.
//! One of the listed files with `unsafe`: it reads records at places.
//!
//! The store has two layouts. Records of a fixed length that no mapper changes are side by side, as they were read. Any
//! other record in a block is `klen u32 | vlen u32 | key | value | padding to 8`. A large record (larger than a block)
//! has its own buffer, and a stub in the block: `klen = u32::MAX | vlen = its number`.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, RwLock};

use crate::bytes::prefetch::prefetch;
use crate::bytes::{KeyOrder, Record};
use crate::memory::pool::UNIT_BYTES;
use crate::memory::{Block, Budget, Buffer, Pool};
use crate::operator::cursor::HEADER_BYTES;
use yunti_base::Result;

/// Key length that marks a stub.
pub const STUB: u32 = u32::MAX;

/// Layout of records in the blocks of a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// Records of any length, each with a header of its lengths.
    Headers,
    /// Records of one length, one behind the other; `record_bytes` is a multiple of the pool's unit.
    Fixed { record_bytes: u32, key_bytes: u32 },
}

/// Collected records of all workers of a job.
pub struct Store {
    pool: Pool,
    layout: Layout,
    budget: Arc<Budget>,
    order: KeyOrder,
    /// Split << 32 | number of the block within the split, for each block.
    tags: Vec<AtomicU64>,
    large_records: RwLock<Vec<Option<LargeRecord>>>,
}

/// A record in a buffer of its own: its key and value, one behind the other.
struct LargeRecord {
    buffer: Buffer,
    key_len: u32,
}

impl Store {
    /// Returns a store that takes blocks of `block_bytes` from `budget`. Fails with `Code::Memory` if addresses cannot
    /// be reserved.
    pub fn new(budget: Arc<Budget>, block_bytes: usize, layout: Layout, order: KeyOrder) -> Result<Store> {
        if let Layout::Fixed { record_bytes, key_bytes } = layout {
            assert!((record_bytes as usize).is_multiple_of(UNIT_BYTES) && key_bytes <= record_bytes);
        }
        let pool = Pool::new(budget.clone(), block_bytes)?;
        let blocks = budget.limit_bytes() as usize / block_bytes + 1;
        let tags = std::iter::repeat_with(|| AtomicU64::new(0)).take(blocks).collect();
        Ok(Store { pool, layout, budget, order, tags, large_records: RwLock::new(Vec::new()) })
    }

    /// Returns the pool of blocks.
    pub fn pool(&self) -> &Pool {
        &self.pool
    }
    /// Returns the budget of blocks and large records.
    pub fn budget(&self) -> &Arc<Budget> {
        &self.budget
    }
    /// Returns the layout of records.
    pub fn layout(&self) -> Layout {
        self.layout
    }
    /// Returns the order of the keys.
    pub fn order(&self) -> KeyOrder {
        self.order
    }

    /// Sets the split of a block, and the block's number within the split.
    pub fn set_tag(&self, block: &Block, split: u32, number: u32) {
        self.tags[block.index() as usize].store(u64::from(split) << 32 | u64::from(number), Ordering::Relaxed);
    }

    /// Returns the position of a record in the order of emission: (split and block, offset). Pairs compare in this
    /// order.
    #[inline]
    pub fn emitted(&self, place: u64) -> (u64, usize) {
        let (block, offset) = self.pool.locate(place);
        (self.tags[block as usize].load(Ordering::Relaxed), offset)
    }

    #[inline]
    /// Returns the split of the record at a place.
    pub fn split(&self, place: u64) -> u32 {
        (self.emitted(place).0 >> 32) as u32
    }

    /// Keeps a large record and returns its number for the stub, or None if the budget has too little memory.
    pub fn try_put_large(&self, key: &[u8], value: &[u8]) -> Result<Option<u32>> {
        let len = key.len() + value.len();
        let grant = self.budget.try_grant(len as u64).or_else(|| {
            // Free blocks count as used until the pool returns them.
            self.pool.shrink();
            self.budget.try_grant(len as u64)
        });
        let Some(grant) = grant else { return Ok(None) };
        let mut buffer = Buffer::new(len, Some(grant))?;
        buffer[..key.len()].copy_from_slice(key);
        buffer[key.len()..].copy_from_slice(value);
        self.order.normalise(&mut buffer[..key.len()]);
        let mut large_records = self.large_records.write().unwrap_or_else(|e| e.into_inner());
        large_records.push(Some(LargeRecord { buffer, key_len: key.len() as u32 }));
        Ok(Some((large_records.len() - 1) as u32))
    }

    /// Drops a large record whose stub is not read again.
    pub fn drop_large(&self, number: u32) {
        let mut large_records = self.large_records.write().unwrap_or_else(|e| e.into_inner());
        large_records[number as usize] = None;
    }

    /// Returns the number of the large record at a place, or None for any other record.
    pub fn large_number(&self, place: u64) -> Option<u32> {
        let (klen, vlen) = self.header(place);
        (klen == STUB).then_some(vlen)
    }

    #[inline]
    fn header(&self, place: u64) -> (u32, u32) {
        // SAFETY: places come from the collector, which wrote a whole header there and writes the block no more.
        let bytes = unsafe { self.pool.bytes(place, HEADER_BYTES) };
        let n = u64::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3], bytes[4], bytes[5], bytes[6], bytes[7]]);
        (n as u32, (n >> 32) as u32)
    }

    /// Returns the key and value at a place, and the length of the key.
    #[inline]
    pub fn bytes(&self, place: u64) -> (&[u8], u32) {
        if let Layout::Fixed { record_bytes, key_bytes } = self.layout {
            // SAFETY: places come from the collector, which had a whole record written there.
            return (unsafe { self.pool.bytes(place, record_bytes as usize) }, key_bytes);
        }
        let (klen, vlen) = self.header(place);
        if klen == STUB {
            return self.large_bytes(vlen);
        }
        // SAFETY: as in `header`; the lengths are those in the record's header.
        let bytes =
            unsafe { self.pool.bytes(place + (HEADER_BYTES / UNIT_BYTES) as u64, klen as usize + vlen as usize) };
        (bytes, klen)
    }

    #[cold]
    fn large_bytes(&self, number: u32) -> (&[u8], u32) {
        let large_records = self.large_records.read().unwrap_or_else(|e| e.into_inner());
        let Some(record) = &large_records[number as usize] else {
            panic!("a large record is read after it was dropped")
        };
        // SAFETY: the buffer's memory does not move; only `drop_large` drops it, after the last read of its place.
        let bytes = unsafe { std::slice::from_raw_parts(record.buffer.as_ptr(), record.buffer.len()) };
        (bytes, record.key_len)
    }

    #[inline]
    /// Returns the key of the record at a place.
    pub fn key(&self, place: u64) -> &[u8] {
        let (bytes, klen) = self.bytes(place);
        &bytes[..klen as usize]
    }

    /// Returns the record at a place, with split 0; use `record_of_split` for runs.
    #[inline]
    pub fn record(&self, place: u64) -> Record<'_> {
        let (bytes, key_len) = self.bytes(place);
        Record { bytes, key_len, split: 0 }
    }

    #[inline]
    /// Returns the record at a place, with its split.
    pub fn record_of_split(&self, place: u64) -> Record<'_> {
        Record { split: self.split(place), ..self.record(place) }
    }

    /// Prefetches the record at a place: the first 128 bytes, or up to 256 bytes of a record of fixed length.
    #[inline]
    pub fn prefetch(&self, place: u64) {
        let first = self.pool.base().wrapping_add(place as usize * UNIT_BYTES);
        let len = match self.layout {
            Layout::Fixed { record_bytes, .. } => (record_bytes as usize).min(256),
            Layout::Headers => 128 + HEADER_BYTES,
        };
        prefetch(first);
        if len > 64 {
            prefetch(first.wrapping_add(64));
        }
        // A record that does not start at a cache line touches one more line.
        prefetch(first.wrapping_add(len - 1));
    }
}
