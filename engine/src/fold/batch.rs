//! Up to 64 records on their way into the table: the positions of their keys and values, and the hashes of the keys.
//! One of the listed files with `unsafe`: kernels load keys without checks.

use super::hash::Hasher;
use super::kernels::{self, Extent};
use super::key::Key;
use super::slot::{SHORT_BYTES, Slot, Slots};
use crate::bytes::RecordBytes;
use crate::bytes::prefetch::prefetch;
use crate::bytes::record::ONE_BYTE_LENGTH_MAX;
use crate::operator::folder::FOLD_BATCH;
use yunti_base::{Code, Error, Result};

/// A share of all keys, by hash bits that do not place them in a table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Share {
    mask: u32,
    value: u32,
}

impl Share {
    /// All keys.
    pub const ALL: Share = Share { mask: 0, value: 0 };

    /// Returns the two halves of the share, or None if no bits are left.
    pub fn halves(self) -> Option<[Share; 2]> {
        // The lowest bit of an order is always set.
        let bit = (self.mask << 1 | 2) & !self.mask;
        (bit < 1 << 16).then(|| [0, bit].map(|b| Share { mask: self.mask | bit, value: self.value | b }))
    }
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Values {
    /// Each value is the number 1.
    #[default]
    Ones,
    /// Values are in `numbers`.
    Numbers,
    /// Values are at `value_spans`.
    Spans,
}

pub(super) struct Batch {
    /// Number of records.
    pub n: usize,
    /// Offset and length of the keys in the data.
    pub spans: [[u32; 2]; FOLD_BATCH],
    /// Hashed keys.
    pub keys: [Key; FOLD_BATCH],
    /// log2 of the slots that the keys were hashed for.
    pub log2: u32,
    /// Numbers of the keys longer than 16 bytes.
    pub long: [u8; FOLD_BATCH],
    /// Number of keys in `long`.
    pub n_long: usize,
    /// Sum of the lengths of the keys in `long`.
    pub long_bytes: usize,
    /// Sum of the lengths of the keys, and their largest.
    pub key_bytes: u32,
    pub key_bytes_max: u32,
    /// Form of the values.
    pub values: Values,
    /// Values that are numbers.
    pub numbers: [u64; FOLD_BATCH],
    /// Offset and length of the values in the data.
    pub value_spans: [[u32; 2]; FOLD_BATCH],
}

impl Batch {
    /// Returns an empty batch.
    pub fn new() -> Self {
        Batch {
            n: 0,
            spans: [[0; 2]; FOLD_BATCH],
            keys: [Key { k0: 0, k1: 0, meta: 0, home: 0 }; FOLD_BATCH],
            log2: 0,
            long: [0; FOLD_BATCH],
            n_long: 0,
            long_bytes: 0,
            key_bytes: 0,
            key_bytes_max: 0,
            values: Values::Ones,
            numbers: [1; FOLD_BATCH],
            value_spans: [[0; 2]; FOLD_BATCH],
        }
    }

    /// Hashes the keys of `spans[..n]` and prefetches their homes. Fails with `Code::UserCode` if a span is outside the
    /// data.
    #[inline(never)]
    pub fn hash(&mut self, data: &[u8], hasher: &Hasher, slots: &Slots) -> Result<()> {
        self.log2 = slots.log2();
        let spans = &self.spans[..self.n];
        let Extent { end, len_max, len_sum } = kernels::extent(hasher.level(), spans);
        if end > data.len() as u64 {
            return Err(outside(end, data.len()));
        }
        // SAFETY: the extent was just checked.
        unsafe { kernels::hash_short(&mut self.keys, spans, data, hasher, slots) };
        (self.key_bytes, self.key_bytes_max) = (len_sum, len_max);
        self.long_bytes = 0;
        self.n_long = 0;
        if len_max > SHORT_BYTES as u32 {
            // Collect their numbers first, without a branch: lengths are hard to predict.
            let mut n_long = 0;
            for (i, &[_, len]) in spans.iter().enumerate() {
                self.long[n_long % FOLD_BATCH] = i as u8;
                n_long += usize::from(len as usize > SHORT_BYTES);
            }
            self.n_long = n_long;
            let homes = slots.as_slice().as_ptr();
            for &i in &self.long[..n_long] {
                let (key, span) = (&mut self.keys[usize::from(i)], spans[usize::from(i)]);
                let hash = hasher.long(slice(data, span));
                let meta = Slot::meta_of(hasher.order(hash), span[1]);
                *key = Key { k0: hash, k1: 0, meta, home: slots.home(meta) as u64 };
                prefetch(homes.wrapping_add(slots.home(meta)));
                self.long_bytes += span[1] as usize;
            }
        }
        Ok(())
    }

    /// Finds the homes again if a larger slot array has replaced the one that the keys were hashed for.
    #[inline]
    pub fn move_to(&mut self, slots: &Slots) {
        if self.log2 != slots.log2() {
            self.log2 = slots.log2();
            for key in &mut self.keys[..self.n] {
                key.home = slots.home(key.meta) as u64;
            }
        }
    }

    /// Sets the batch to keys with the value 1.
    #[inline]
    pub fn set_ones(&mut self, spans: &[[u32; 2]]) {
        self.n = spans.len();
        match spans.try_into() {
            // A known length is copied without a call.
            Ok(whole) => self.spans = whole,
            Err(_) => self.spans[..spans.len()].copy_from_slice(spans),
        }
        if self.values != Values::Ones {
            self.values = Values::Ones;
            self.numbers = [1; FOLD_BATCH];
        }
    }

    /// Keeps only the records with keys in `share`.
    pub fn retain(&mut self, share: Share) {
        let mut kept = 0;
        (self.n_long, self.long_bytes) = (0, 0);
        for i in 0..self.n {
            if (self.keys[i].meta >> 32) as u32 & share.mask != share.value {
                continue;
            }
            self.spans[kept] = self.spans[i];
            self.keys[kept] = self.keys[i];
            self.numbers[kept] = self.numbers[i];
            self.value_spans[kept] = self.value_spans[i];
            if self.keys[kept].is_long() {
                self.long[self.n_long] = kept as u8;
                self.n_long += 1;
                self.long_bytes += self.spans[kept][1] as usize;
            }
            kept += 1;
        }
        self.n = kept;
    }

    /// Returns the bytes of the first `n` records. Values that are not in `value_spans` are numbers of eight bytes.
    #[inline]
    pub fn bytes(&self, n: usize) -> RecordBytes {
        let spans = self.values == Values::Spans;
        if n == self.n && !spans && self.key_bytes_max as usize <= ONE_BYTE_LENGTH_MAX {
            return RecordBytes { content: u64::from(self.key_bytes) + 8 * n as u64, ..RecordBytes::default() };
        }
        let mut bytes = RecordBytes::default();
        for (key, value) in self.spans[..n].iter().zip(&self.value_spans) {
            bytes.add(key[1] as usize, if spans { value[1] as usize } else { 8 });
        }
        bytes
    }

    /// Drops the first `n` records.
    pub fn skip(&mut self, n: usize) {
        let skipped = self.long[..self.n_long].iter().filter(|&&i| usize::from(i) < n).count();
        self.long.copy_within(skipped.., 0);
        self.n_long -= skipped;
        self.long[..self.n_long].iter_mut().for_each(|i| *i -= n as u8);
        self.long_bytes -=
            self.spans[..n].iter().map(|s| s[1] as usize).filter(|&len| len > SHORT_BYTES).sum::<usize>();
        self.key_bytes -= self.spans[..n].iter().map(|s| s[1]).sum::<u32>();
        self.spans.copy_within(n.., 0);
        self.keys.copy_within(n.., 0);
        self.numbers.copy_within(n.., 0);
        self.value_spans.copy_within(n.., 0);
        self.n -= n;
    }
}

#[inline(always)]
pub(super) fn slice(data: &[u8], [offset, len]: [u32; 2]) -> &[u8] {
    &data[offset as usize..][..len as usize]
}

#[cold]
pub(super) fn outside(end: u64, len: usize) -> Error {
    Error::new(Code::UserCode, format!("a record was emitted that ends at byte {end} of {len}"))
        .hint("the mapper emits offsets or lengths outside of its batch")
}
