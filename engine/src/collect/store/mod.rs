//! The store of a job's collected records: it maps places to records and to their order of emission.
//! One of the listed files with `unsafe`: it reads records at places.
//!
//! Records that no mapper changes stay as they are in the input: records of a fixed length side by side in blocks, or
//! lines and records of a fixed length in mapped files. Any other record is in a block as
//! `klen u32 | vlen u32 | key | value | padding to 8`. Records of one key may share a bundle (bundle.rs). A large
//! record (larger than a block) has its own buffer, and a stub in the block: `klen = u32::MAX | vlen = its number`.

pub mod bundle;
pub mod bundler;
pub mod mapped_records;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bundle::{BUNDLE, Bundle};
use mapped_records::{MappedRecords, PREFETCH_MAX, prefetch_bytes};

use crate::bytes::prefetch::prefetch;
use crate::bytes::{KeyOrder, Record};
use crate::env::MappedFiles;
use crate::env::sync::RwLock;
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
    /// The same in mapped files.
    MappedFixed { record_bytes: u32, key_bytes: u32 },
    /// Lines in mapped files: keys without values. `ends_at_cr`: a CR ends a line as an LF does.
    MappedLines { ends_at_cr: bool },
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
    mapped: Option<MappedRecords>,
}

/// A record in a buffer of its own: its key and value, one behind the other.
struct LargeRecord {
    buffer: Buffer,
    key_len: u32,
}

/// Records of one length, by place.
#[derive(Clone, Copy)]
pub struct FixedRecords<'a> {
    bytes: &'a [u8],
    unit_shift: u32,
    /// Bytes of a record.
    pub record_bytes: usize,
    /// Bytes of its key, at its beginning.
    pub key_bytes: usize,
}

impl<'a> FixedRecords<'a> {
    /// Returns the record at a place.
    #[inline(always)]
    pub fn at(&self, place: u64) -> &'a [u8] {
        let at = (place as usize) << self.unit_shift;
        &self.bytes[at..at + self.record_bytes]
    }

    /// Prefetches the record at a place, up to 256 bytes.
    #[inline(always)]
    pub fn prefetch(&self, place: u64) {
        let first = self.bytes.as_ptr().wrapping_add((place as usize) << self.unit_shift);
        let len = self.record_bytes.min(256);
        prefetch(first);
        if len > 64 {
            prefetch(first.wrapping_add(64));
        }
        // A record that does not start at a cache line touches one more line.
        prefetch(first.wrapping_add(len - 1));
    }
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
        Ok(Store { pool, layout, budget, order, tags, large_records: RwLock::new(Vec::new()), mapped: None })
    }

    /// Returns a store of records in mapped files; its blocks hold entries only. `splits`: the first offset and the
    /// number of each split, both ascending.
    pub fn mapped(
        budget: Arc<Budget>,
        block_bytes: usize,
        layout: Layout,
        order: KeyOrder,
        files: MappedFiles,
        splits: Vec<(usize, u32)>,
    ) -> Result<Store> {
        let record_bytes = match layout {
            Layout::MappedFixed { record_bytes, .. } => Some(record_bytes),
            _ => None,
        };
        let store = Store::new(budget, block_bytes, layout, order)?;
        Ok(Store { mapped: Some(MappedRecords::new(files, splits, record_bytes)), ..store })
    }

    /// Returns the mapped files, if the records are there.
    pub fn mapped_files(&self) -> Option<&MappedFiles> {
        self.mapped.as_ref().map(|mapped| &mapped.files)
    }

    /// Fails with `Code::Input` if a mapped file was truncated or cannot be read. Records taken since the last check
    /// are not valid then.
    #[inline]
    pub fn check_input(&self) -> Result<()> {
        self.mapped.as_ref().map_or(Ok(()), |mapped| mapped.files.check())
    }

    /// `check_input` after the last record was taken: it also finds a file that is shorter now.
    pub fn check_whole_input(&self) -> Result<()> {
        self.mapped.as_ref().map_or(Ok(()), |mapped| mapped.files.check_lengths())
    }

    /// Returns the bits of a place.
    pub fn place_bits(&self) -> u32 {
        self.mapped.as_ref().map_or_else(|| self.pool.place_bits(), MappedRecords::place_bits)
    }

    /// Returns the place of the record at an offset of the mapped files. `len`: its length.
    #[inline]
    pub fn mapped_place(&self, at: usize, len: usize) -> u64 {
        self.mapped.as_ref().map_or(0, |mapped| mapped.place(at, len))
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
        if self.mapped.is_some() {
            return (0, place as usize);
        }
        let (block, offset) = self.pool.locate(place);
        (self.tags[block as usize].load(Ordering::Relaxed), offset)
    }

    #[inline]
    /// Returns the split of the record at a place.
    pub fn split(&self, place: u64) -> u32 {
        if let Some(mapped) = &self.mapped {
            return mapped.split(place);
        }
        (self.emitted(place).0 >> 32) as u32
    }

    /// Keeps a large record of `len` bytes, which `fill` writes, and returns its number for the stub, or None if the
    /// budget has too little memory. Fails with the error of `fill`.
    pub fn try_put_large(
        &self,
        key_len: usize,
        len: usize,
        fill: impl FnOnce(&mut [u8]) -> Result<()>,
    ) -> Result<Option<u32>> {
        let grant = self.budget.try_grant(len as u64).or_else(|| {
            // Free blocks count as used until the pool returns them.
            self.pool.shrink();
            self.budget.try_grant(len as u64)
        });
        let Some(grant) = grant else { return Ok(None) };
        let mut buffer = Buffer::new(len, Some(grant))?;
        fill(&mut buffer[..len])?;
        self.order.normalise(&mut buffer[..key_len]);
        let mut large_records = self.large_records.write().unwrap_or_else(|e| e.into_inner());
        large_records.push(Some(LargeRecord { buffer, key_len: key_len as u32 }));
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

    /// Returns the key and value at a place, and the length of the key. The value of a bundle is all that follows its
    /// key.
    #[inline]
    pub fn bytes(&self, place: u64) -> (&[u8], u32) {
        match self.layout {
            Layout::Headers => {}
            Layout::Fixed { record_bytes, key_bytes } => {
                // SAFETY: places come from the collector, which had a whole record written there.
                return (unsafe { self.pool.bytes(place, record_bytes as usize) }, key_bytes);
            }
            Layout::MappedFixed { record_bytes, key_bytes } => {
                let record = self.mapped.as_ref().map(|mapped| mapped.fixed(place, record_bytes as usize));
                return (record.unwrap_or_default(), key_bytes);
            }
            Layout::MappedLines { ends_at_cr } => {
                let line = self.mapped.as_ref().map(|mapped| mapped.line(place, ends_at_cr)).unwrap_or_default();
                return (line, line.len() as u32);
            }
        }
        let (klen, vlen) = self.header(place);
        if klen == STUB {
            return self.large_bytes(vlen);
        }
        let klen = klen & !BUNDLE;
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

    /// Returns the records, if all have one length.
    pub fn fixed_records(&self) -> Option<FixedRecords<'_>> {
        let (record_bytes, key_bytes) = match self.layout {
            Layout::Fixed { record_bytes, key_bytes } | Layout::MappedFixed { record_bytes, key_bytes } => {
                (record_bytes as usize, key_bytes as usize)
            }
            _ => return None,
        };
        // SAFETY: places come from the collector, which had a whole record written there; no block is written now.
        let pooled = || (unsafe { self.pool.bytes(0, self.pool.reserved()) }, UNIT_BYTES.trailing_zeros());
        let (bytes, unit_shift) = self.mapped.as_ref().map_or_else(pooled, |m| (m.files.from(0), m.unit_shift));
        Some(FixedRecords { bytes, unit_shift, record_bytes, key_bytes })
    }

    #[inline]
    /// Returns the key of the record at a place.
    pub fn key(&self, place: u64) -> &[u8] {
        let (bytes, klen) = self.bytes(place);
        &bytes[..klen as usize]
    }

    /// Returns true for the place of a bundle.
    #[inline]
    fn is_bundle(&self, place: u64) -> bool {
        self.layout == Layout::Headers && {
            let klen = self.header(place).0;
            klen & BUNDLE != 0 && klen != STUB
        }
    }

    /// Passes on the record at a place, or the records of a bundle, with split 0. `room` holds a record of a bundle.
    #[inline]
    pub fn each_record(
        &self,
        place: u64,
        room: &mut Vec<u8>,
        mut take: impl FnMut(Record<'_>) -> Result<()>,
    ) -> Result<()> {
        let (bytes, key_len) = self.bytes(place);
        if !self.is_bundle(place) {
            return take(Record { bytes, key_len, split: 0 });
        }
        let bundle = Bundle::of(bytes, key_len as usize);
        room.clear();
        room.extend_from_slice(bundle.key);
        bundle.each(|value| {
            room.truncate(bundle.key.len());
            room.extend_from_slice(value);
            take(Record { bytes: room, key_len, split: 0 })
        })
    }

    /// `each_record` with the split.
    #[inline]
    pub fn each_record_of_split(
        &self,
        place: u64,
        room: &mut Vec<u8>,
        mut take: impl FnMut(Record<'_>) -> Result<()>,
    ) -> Result<()> {
        let split = self.split(place);
        self.each_record(place, room, |record| take(Record { split, ..record }))
    }

    /// Prefetches the record at a place: the first 128 bytes, or up to 256 bytes of a record of fixed length.
    #[inline]
    pub fn prefetch(&self, place: u64) {
        match self.fixed_records() {
            Some(fixed) => fixed.prefetch(place),
            None => match &self.mapped {
                Some(mapped) => mapped.prefetch(place, 128),
                None => self.prefetch_whole(place, 128),
            },
        }
    }

    /// Prefetches the record at a place: a line whose length is known, and `len` bytes of another record.
    #[inline]
    pub fn prefetch_whole(&self, place: u64, len: usize) {
        match &self.mapped {
            Some(mapped) => mapped.prefetch_whole(place, len),
            None => {
                let first = self.pool.base().wrapping_add(place as usize * UNIT_BYTES);
                prefetch_bytes(first, len.min(PREFETCH_MAX) + HEADER_BYTES);
            }
        }
    }

    /// Returns the first bytes of the key at a place, `len` at most. A line's end is searched no further.
    #[inline]
    pub fn key_upto(&self, place: u64, len: usize) -> &[u8] {
        if let (Layout::MappedLines { ends_at_cr }, Some(mapped)) = (self.layout, &self.mapped) {
            return mapped.line_upto(place, len, ends_at_cr);
        }
        let key = self.key(place);
        &key[..len.min(key.len())]
    }
}
