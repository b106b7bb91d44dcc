//! A batch of input records: slices of one buffer (yt_batch of the C ABI).
//! One of the listed files with `unsafe`: it reads through the ABI's pointers.

use std::marker::PhantomData;

pub const BATCH_SPAN: u32 = 1;

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
    pub offsets: &'a [u32],
    pub lengths: &'a [u32],
}

impl<'a> Batch<'a> {
    /// Records of `data`; the buffer behind `data` has the ABI's slack of readable bytes (`memory::Buffer` and pool
    /// blocks have it). Without `keys` the key of a record is its position in the file.
    ///
    /// # Panics
    /// If a slice lies outside of `data` or the columns differ in length: an error of the reader.
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

    /// A span of text in which no lines are marked.
    pub fn span(data: &'a [u8]) -> Batch<'a> {
        let none = Slices { offsets: &[], lengths: &[] };
        let mut batch = Batch::records(data, None, none);
        batch.voff = std::ptr::null();
        batch.vlen = std::ptr::null();
        batch.flags = BATCH_SPAN;
        batch
    }

    /// Says where the data stands: the file, and the offset of the first byte in it.
    pub fn at(mut self, file_index: u32, first_position: u64) -> Self {
        self.file_index = file_index;
        self.first_position = first_position;
        self
    }

    pub fn len(&self) -> usize {
        self.n as usize
    }
    pub fn is_empty(&self) -> bool {
        self.n == 0 && !self.is_span()
    }
    pub fn is_span(&self) -> bool {
        self.flags & BATCH_SPAN != 0
    }
    pub fn first_position(&self) -> u64 {
        self.first_position
    }
    pub fn file_index(&self) -> u32 {
        self.file_index
    }

    /// All bytes that the batch's slices lie in.
    pub fn data(&self) -> &'a [u8] {
        // SAFETY: made from a slice of this length in `records`, which 'a keeps alive.
        unsafe { std::slice::from_raw_parts(self.base, self.bytes as usize) }
    }

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

    /// Empty for a span.
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

    /// Key (empty where none is stored) and value of record `i`.
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
