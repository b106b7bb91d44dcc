//! A batch of input records: slices of one buffer (yt_batch of the C ABI).
//! One of the listed files with `unsafe`: it reads through the ABI's pointers.

use std::marker::PhantomData;

/// Flag of a batch: a span of text without records (`YT_BATCH_SPAN`).
pub const BATCH_SPAN: u32 = 1;

/// Flag of a batch: the value of each record is a block of columns. It stays within the engine.
const BATCH_BLOCKS: u32 = 2;

/// Input records as slices of one buffer, in the layout of yt_batch.
#[repr(C)]
pub struct Batch<'a> {
    size: u32,
    n: u32,
    base: *const u8,
    koff: *const u32,
    klen: *const u32,
    voff: *const u32,
    vlen: *const u32,
    bytes: u64,
    first_position: u64,
    flags: u32,
    file_index: u32,
    lives: PhantomData<&'a [u8]>,
}

/// Offsets and lengths of one column of a batch.
#[derive(Clone, Copy)]
pub struct Slices<'a> {
    /// Offsets in the batch's data, in bytes.
    pub offsets: &'a [u32],
    /// Lengths in bytes.
    pub lengths: &'a [u32],
}

impl<'a> Batch<'a> {
    /// Returns a batch of records in `data`. The buffer behind `data` has the ABI's readable slack (`memory::Buffer`
    /// and pool blocks have it). Without `keys`, a record's key is its position in the file.
    ///
    /// # Panics
    /// Panics if the columns differ in length, and in debug builds if a slice is outside of `data`: an error of the
    /// reader.
    pub fn records(data: &'a [u8], keys: Option<Slices<'a>>, values: Slices<'a>) -> Batch<'a> {
        let n = values.offsets.len();
        assert!(values.lengths.len() == n);
        debug_assert!(values.in_bounds(data.len()));
        if let Some(k) = keys {
            assert!(k.offsets.len() == n && k.lengths.len() == n);
            debug_assert!(k.in_bounds(data.len()));
        }
        Batch {
            size: size_of::<Batch<'static>>() as u32,
            n: n as u32,
            base: data.as_ptr(),
            koff: keys.map_or(std::ptr::null(), |k| k.offsets.as_ptr()),
            klen: keys.map_or(std::ptr::null(), |k| k.lengths.as_ptr()),
            voff: values.offsets.as_ptr(),
            vlen: values.lengths.as_ptr(),
            bytes: data.len() as u64,
            first_position: 0,
            flags: 0,
            file_index: 0,
            lives: PhantomData,
        }
    }

    /// Returns a span of text without marked lines.
    pub fn span(data: &'a [u8]) -> Batch<'a> {
        let none = Slices { offsets: &[], lengths: &[] };
        let mut batch = Batch::records(data, None, none);
        batch.voff = std::ptr::null();
        batch.vlen = std::ptr::null();
        batch.flags = BATCH_SPAN;
        batch
    }

    /// Sets the position of the data: the file, and the offset of the first byte in it.
    pub fn at(mut self, file_index: u32, first_position: u64) -> Self {
        self.file_index = file_index;
        self.first_position = first_position;
        self
    }

    /// Marks the values as blocks of columns (docs/formats/column-block.md).
    pub fn with_blocks(mut self) -> Self {
        self.flags |= BATCH_BLOCKS;
        self
    }

    /// Returns true if the value of each record is a block of columns.
    pub fn has_blocks(&self) -> bool {
        self.flags & BATCH_BLOCKS != 0
    }

    /// Returns the number of records.
    pub fn len(&self) -> usize {
        self.n as usize
    }
    /// Returns true if there are no records and no span.
    pub fn is_empty(&self) -> bool {
        self.n == 0 && !self.is_span()
    }
    /// Returns true for a span of text.
    pub fn is_span(&self) -> bool {
        self.flags & BATCH_SPAN != 0
    }
    /// Returns the file offset of the data's first byte.
    pub fn first_position(&self) -> u64 {
        self.first_position
    }
    /// Returns the number of the input file.
    pub fn file_index(&self) -> u32 {
        self.file_index
    }

    /// Returns all bytes that the batch's slices point into.
    pub fn data(&self) -> &'a [u8] {
        // SAFETY: made from a slice of this length in `records`, which 'a keeps alive.
        unsafe { std::slice::from_raw_parts(self.base, self.bytes as usize) }
    }

    /// Returns the keys, or None if the records' positions are the keys.
    pub fn keys(&self) -> Option<Slices<'a>> {
        if self.koff.is_null() {
            return None;
        }
        // SAFETY: made from slices of n elements in `records`, which 'a keeps alive.
        unsafe {
            Some(Slices {
                offsets: std::slice::from_raw_parts(self.koff, self.n as usize),
                lengths: std::slice::from_raw_parts(self.klen, self.n as usize),
            })
        }
    }

    /// Returns the values; empty for a span.
    pub fn values(&self) -> Slices<'a> {
        if self.voff.is_null() {
            return Slices { offsets: &[], lengths: &[] };
        }
        // SAFETY: as in `keys`.
        unsafe {
            Slices {
                offsets: std::slice::from_raw_parts(self.voff, self.n as usize),
                lengths: std::slice::from_raw_parts(self.vlen, self.n as usize),
            }
        }
    }

    /// Returns the key (empty if none is stored) and the value of record `i`. Panics if there is no such record.
    #[inline]
    pub fn record(&self, i: usize) -> (&'a [u8], &'a [u8]) {
        let data = self.data();
        let slice = |s: Slices<'a>| &data[s.offsets[i] as usize..][..s.lengths[i] as usize];
        (self.keys().map_or(&[][..], slice), slice(self.values()))
    }
}

impl Slices<'_> {
    fn in_bounds(&self, len: usize) -> bool {
        self.offsets.iter().zip(self.lengths).all(|(&o, &l)| o as usize + l as usize <= len)
    }
}
