//! Records in mapped files: from places to bytes.
//!
//! ```text
//!   place of a record of fixed length     | offset, in units of 1, 2 or 4 bytes     |
//!   place of a line                       | offset in bytes | class of its length: 8 |
//! ```
//!
//! The class saves most of the search for a line's end, which would wait for memory, and tells what to prefetch.

use crate::bytes::prefetch::prefetch;
use crate::collect::entries::PLACE_BITS;
use crate::env::MappedFiles;
use crate::memory::pool::UNIT_BYTES;

/// Bytes of a record that are prefetched at most. More would not stay in the first cache level until they are copied.
pub const PREFETCH_MAX: usize = 1 << 10;
/// Bytes of a line from which on a truncated file is suspected: its pages read as zeros, without line ends.
const LONG_LINE: usize = 64 << 10;
/// Bits of a length class.
const CLASS_BITS: u32 = 8;

/// Records of mapped input files.
pub struct MappedRecords {
    /// The files.
    pub files: MappedFiles,
    /// First offset of each split, and the split's number; both ascend.
    splits: Vec<(usize, u32)>,
    /// log2 of the bytes of a place's unit.
    pub unit_shift: u32,
    /// Low bits of a place that hold the class of a line's length; 0 if there are none.
    class_bits: u32,
}

impl MappedRecords {
    /// Returns records of `record_bytes` each, or lines (None). `splits`: the first offset and the number of each
    /// split, both ascending.
    pub fn new(files: MappedFiles, splits: Vec<(usize, u32)>, record_bytes: Option<u32>) -> MappedRecords {
        debug_assert!(splits.is_sorted());
        // Files begin at pages, so a record's length decides the unit of all offsets.
        let unit_shift = record_bytes.map_or(0, |bytes| bytes.trailing_zeros().min(UNIT_BYTES.trailing_zeros()));
        let fits = files.reserved() >> (PLACE_BITS - CLASS_BITS) == 0;
        let class_bits = if record_bytes.is_none() && fits { CLASS_BITS } else { 0 };
        MappedRecords { files, splits, unit_shift, class_bits }
    }

    /// Returns the bits of a place.
    pub fn place_bits(&self) -> u32 {
        usize::BITS - (self.files.reserved() >> self.unit_shift).leading_zeros() + self.class_bits
    }

    /// Returns the place of the record at an offset of the files. `len`: its length.
    #[inline]
    pub fn place(&self, at: usize, len: usize) -> u64 {
        match self.class_bits {
            0 => (at >> self.unit_shift) as u64,
            _ => (at as u64) << CLASS_BITS | u64::from(length_class(len)),
        }
    }

    /// Returns the offset of a place in the files.
    #[inline(always)]
    pub fn offset(&self, place: u64) -> usize {
        ((place >> self.class_bits) as usize) << self.unit_shift
    }

    /// Returns the number of the split of a place.
    pub fn split(&self, place: u64) -> u32 {
        let at = self.offset(place);
        let behind = self.splits.partition_point(|&(start, _)| start <= at);
        self.splits[behind.saturating_sub(1)].1
    }

    /// Returns the lengths that a line at a place can have: at least, and below.
    #[inline(always)]
    fn line_lengths(&self, place: u64) -> (usize, usize) {
        match self.class_bits {
            0 => (0, usize::MAX),
            _ => lengths_of(place as u8),
        }
    }

    /// Returns the bytes of a record of fixed length.
    #[inline]
    pub fn fixed(&self, place: u64, len: usize) -> &[u8] {
        self.files.bytes(self.offset(place), len)
    }

    /// Returns the line at a place, without its end. A byte behind each file ends its last line.
    #[inline]
    pub fn line(&self, place: u64, ends_at_cr: bool) -> &[u8] {
        let rest = self.files.from(self.offset(place));
        let least = self.line_lengths(place).0.min(rest.len());
        // Without an end, the file was changed.
        let len = least + line_end(&rest[least..], ends_at_cr).unwrap_or(0);
        if len > LONG_LINE && self.files.is_faulty() {
            return &[];
        }
        &rest[..len]
    }

    /// Returns the first bytes of a line, `len` at most. The line's end is searched no further.
    #[inline]
    pub fn line_upto(&self, place: u64, len: usize, ends_at_cr: bool) -> &[u8] {
        let rest = self.files.from(self.offset(place));
        let rest = &rest[..len.min(rest.len())];
        let least = self.line_lengths(place).0;
        if least >= rest.len() {
            return rest;
        }
        let end = line_end(&rest[least..], ends_at_cr).map(|end| least + end);
        &rest[..end.unwrap_or(rest.len())]
    }

    /// Prefetches the first `len` bytes of the record at a place.
    #[inline]
    pub fn prefetch(&self, place: u64, len: usize) {
        prefetch_bytes(self.files.base().wrapping_add(self.offset(place)), len);
    }

    /// Prefetches a line whose length is known, and `len` bytes of another record; at most `PREFETCH_MAX`.
    #[inline]
    pub fn prefetch_whole(&self, place: u64, len: usize) {
        let len = if self.class_bits > 0 { self.line_lengths(place).1 } else { len };
        self.prefetch(place, len.min(PREFETCH_MAX));
    }
}

/// Prefetches `len` bytes.
#[inline(always)]
pub fn prefetch_bytes(first: *const u8, len: usize) {
    (0..len).step_by(64).for_each(|at| prefetch(first.wrapping_add(at)));
    // Bytes that do not start at a cache line touch one more line.
    prefetch(first.wrapping_add(len.saturating_sub(1)));
}

/// Returns where a line ends.
#[inline(always)]
fn line_end(bytes: &[u8], ends_at_cr: bool) -> Option<usize> {
    if ends_at_cr { memchr::memchr2(b'\n', b'\r', bytes) } else { memchr::memchr(b'\n', bytes) }
}

/// Returns the class of a line's length: the length itself below 16, then eight classes for each power of two.
fn length_class(len: usize) -> u8 {
    if len < 16 {
        return len as u8;
    }
    let exponent = len.ilog2();
    (16 + (exponent - 4) * 8 + ((len >> (exponent - 3)) as u32 & 7)) as u8
}

/// Returns the lengths of a class: at least, and below.
#[inline(always)]
fn lengths_of(class: u8) -> (usize, usize) {
    let class = usize::from(class);
    if class < 16 {
        return (class, class + 1);
    }
    let (shift, mantissa) = ((class - 16) / 8 + 1, 8 + (class & 7));
    (mantissa << shift, (mantissa + 1) << shift)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn length_classes_are_narrow_and_ascend() {
        let mut last = 0;
        for len in (0..100_000).chain((17..31).flat_map(|n| [(1 << n) - 1, 1 << n, (1 << n) + 1])) {
            let class = length_class(len);
            let (least, below) = lengths_of(class);
            assert!((least..below).contains(&len), "{len}: {least}..{below}");
            assert!(below - least <= 1 + len / 8, "{len}: {least}..{below}");
            assert!(class >= last, "{len}");
            last = class;
        }
    }
}
