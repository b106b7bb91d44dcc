//! The store of a job's collected records: where they lie, in which order they were emitted, how to reach them by place.
//! One of the listed files with `unsafe`: it reads records at places.
//!
//! Two layouts. Records of a fixed length that no mapper changes stand side by side, as they were read. Else:
//! a record in a block is `klen u32 | vlen u32 | key | value | padding to 8`. A record that is larger than a block has a buffer of
//! its own, and a stub in the block: `klen = u32::MAX | vlen = its number`.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, RwLock};

use crate::bytes::prefetch::prefetch;
use crate::bytes::{KeyOrder, Record};
use crate::memory::pool::UNIT_BYTES;
use crate::memory::{Block, Budget, Buffer, Pool};
use crate::operator::cursor::HEADER_BYTES;
use yunti_base::Result;

/// Key length of a stub.
pub const STUB: u32 = u32::MAX;

/// How records stand in the blocks of a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    Headers,
    /// One behind the other; `record_bytes` is a multiple of the pool's unit.
    Fixed {
        record_bytes: u32,
        key_bytes: u32,
    },
}

pub struct Store {
    pool: Pool,
    layout: Layout,
    budget: Arc<Budget>,
    order: KeyOrder,
    /// For each block: split << 32 | number of the block within the split.
    tags: Vec<AtomicU64>,
    large_records: RwLock<Vec<Option<LargeRecord>>>,
}

/// A record in a buffer of its own: its key and value, one behind the other.
struct LargeRecord {
    buffer: Buffer,
    key_len: u32,
}

impl Store {
    pub fn new(budget: Arc<Budget>, block_bytes: usize, layout: Layout, order: KeyOrder) -> Result<Store> {
        if let Layout::Fixed { record_bytes, key_bytes } = layout {
            assert!((record_bytes as usize).is_multiple_of(UNIT_BYTES) && key_bytes <= record_bytes);
        }
        let pool = Pool::new(budget.clone(), block_bytes)?;
        let blocks = budget.limit_bytes() as usize / block_bytes + 1;
        let tags = std::iter::repeat_with(|| AtomicU64::new(0)).take(blocks).collect();
        Ok(Store { pool, layout, budget, order, tags, large_records: RwLock::new(Vec::new()) })
    }

    pub fn pool(&self) -> &Pool {
        &self.pool
    }
    pub fn budget(&self) -> &Arc<Budget> {
        &self.budget
    }
    pub fn layout(&self) -> Layout {
        self.layout
    }
    pub fn order(&self) -> KeyOrder {
        self.order
    }

    pub fn set_tag(&self, block: &Block, split: u32, number: u32) {
        self.tags[block.index() as usize].store(u64::from(split) << 32 | u64::from(number), Ordering::Relaxed);
    }

    /// The order of emission: (split, block, offset), as a number for each that compares so.
    #[inline]
    pub fn emitted(&self, place: u64) -> (u64, usize) {
        let (block, offset) = self.pool.locate(place);
        (self.tags[block as usize].load(Ordering::Relaxed), offset)
    }

    #[inline]
    pub fn split(&self, place: u64) -> u32 {
        (self.emitted(place).0 >> 32) as u32
    }

    /// Keeps a record that is larger than a block, if the budget has the memory; the number for its stub.
    pub fn try_put_large(&self, key: &[u8], value: &[u8]) -> Result<Option<u32>> {
        let len = key.len() + value.len();
        let grant = self.budget.try_grant(len as u64).or_else(|| {
            // Free blocks count as used until the pool gives them back.
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

    /// Key and value at a place, and the length of the key.
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
        // SAFETY: as in `header`; the lengths are those of the record that stands there.
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
        // SAFETY: the buffer's memory does not move, and it is dropped only by `drop_large`, after the last read of its place.
        let bytes = unsafe { std::slice::from_raw_parts(record.buffer.as_ptr(), record.buffer.len()) };
        (bytes, record.key_len)
    }

    #[inline]
    pub fn key(&self, place: u64) -> &[u8] {
        let (bytes, klen) = self.bytes(place);
        &bytes[..klen as usize]
    }

    /// The record at a place. Its split is 0: only runs ask for it.
    #[inline]
    pub fn record(&self, place: u64) -> Record<'_> {
        let (bytes, key_len) = self.bytes(place);
        Record { bytes, key_len, split: 0 }
    }

    #[inline]
    pub fn record_of_split(&self, place: u64) -> Record<'_> {
        Record { split: self.split(place), ..self.record(place) }
    }

    /// Asks the processor for the record at a place: the lines of the first 128 bytes, or of all where their number is known.
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
        // The last byte lies in one line more where the record does not start at a line.
        prefetch(first.wrapping_add(len - 1));
    }
}
