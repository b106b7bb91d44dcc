//! Up to 64 records on their way into the table: where their keys and values lie, and what the keys hash to.
//! One of the listed files with `unsafe`: keys are loaded with masks where the processor can.

use super::hash::Hasher;
use super::slot::{SHORT_BYTES, Slot, Slots, load_key};
use crate::bytes::prefetch::prefetch;
use crate::operator::folder::FOLD_BATCH;
use yunti_base::{Code, Error, Result};

/// What the table compares: see the drawing in slot.rs. Of a long key, `k0` is the hash and `k1` nothing.
#[derive(Clone, Copy)]
#[repr(C, align(32))]
pub(super) struct Key {
    pub k0: u64,
    pub k1: u64,
    pub meta: u64,
    /// The first slot of its home, in the array that the batch was hashed for.
    pub home: u64,
}

impl Key {
    #[inline(always)]
    pub fn is_long(&self) -> bool {
        self.meta as u32 as usize > SHORT_BYTES
    }
}

/// A share of all keys, by bits of their hashes that do not place them in a table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Share {
    mask: u32,
    value: u32,
}

impl Share {
    pub const ALL: Share = Share { mask: 0, value: 0 };

    /// Two halves of it; none where no bits are left.
    pub fn halves(self) -> Option<[Share; 2]> {
        // The lowest bit of an order is always set.
        let bit = (self.mask << 1 | 2) & !self.mask;
        (bit < 1 << 16).then(|| [0, bit].map(|b| Share { mask: self.mask | bit, value: self.value | b }))
    }
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Values {
    /// Each is the number 1.
    #[default]
    Ones,
    /// In `numbers`.
    Numbers,
    /// Where `value_spans` says.
    Spans,
}

pub(super) struct Batch {
    pub n: usize,
    /// Offset and length of the keys in the data.
    pub spans: [[u32; 2]; FOLD_BATCH],
    pub keys: [Key; FOLD_BATCH],
    /// Of the slots that the keys were hashed for.
    pub log2: u32,
    /// Which keys have more than 16 bytes, how many, and the bytes of all of them.
    pub long: [u8; FOLD_BATCH],
    pub n_long: usize,
    pub long_bytes: usize,
    pub values: Values,
    pub numbers: [u64; FOLD_BATCH],
    pub value_spans: [[u32; 2]; FOLD_BATCH],
}

impl Batch {
    pub fn new() -> Self {
        Batch {
            n: 0,
            spans: [[0; 2]; FOLD_BATCH],
            keys: [Key { k0: 0, k1: 0, meta: 0, home: 0 }; FOLD_BATCH],
            log2: 0,
            long: [0; FOLD_BATCH],
            n_long: 0,
            long_bytes: 0,
            values: Values::Ones,
            numbers: [1; FOLD_BATCH],
            value_spans: [[0; 2]; FOLD_BATCH],
        }
    }

    /// Hashes the keys of `spans[..n]` and asks for their homes. Spans outside of the data are an error of user code.
    #[inline(never)]
    pub fn hash(&mut self, data: &[u8], hasher: &Hasher, slots: &Slots) -> Result<()> {
        self.log2 = slots.log2();
        let spans = &self.spans[..self.n];
        let (end, len_max) = extent(spans, hasher.has_masked_loads());
        if end > data.len() as u64 {
            return Err(outside(end, data.len()));
        }
        hash_short(&mut self.keys, spans, data, hasher, slots);
        self.long_bytes = 0;
        self.n_long = 0;
        if len_max > SHORT_BYTES as u64 {
            // First which, without a branch: lengths are hard to predict.
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

    /// Finds the homes again where the slots were replaced by a larger array since the keys were hashed.
    #[inline]
    pub fn move_to(&mut self, slots: &Slots) {
        if self.log2 != slots.log2() {
            self.log2 = slots.log2();
            for key in &mut self.keys[..self.n] {
                key.home = slots.home(key.meta) as u64;
            }
        }
    }

    /// Takes keys with the value 1.
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

    /// Keeps the records whose keys are in a share of all.
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

    /// Forgets the first `n` records.
    pub fn skip(&mut self, n: usize) {
        let skipped = self.long[..self.n_long].iter().filter(|&&i| usize::from(i) < n).count();
        self.long.copy_within(skipped.., 0);
        self.n_long -= skipped;
        self.long[..self.n_long].iter_mut().for_each(|i| *i -= n as u8);
        self.long_bytes -=
            self.spans[..n].iter().map(|s| s[1] as usize).filter(|&len| len > SHORT_BYTES).sum::<usize>();
        self.spans.copy_within(n.., 0);
        self.keys.copy_within(n.., 0);
        self.numbers.copy_within(n.., 0);
        self.value_spans.copy_within(n.., 0);
        self.n -= n;
    }
}

/// Where the span that reaches farthest ends, and the length of the longest one.
#[inline(always)]
fn extent(spans: &[[u32; 2]], wide: bool) -> (u64, u64) {
    #[cfg(target_arch = "x86_64")]
    if wide {
        // SAFETY: the features were detected when the hasher was made.
        return unsafe { extent_avx512(spans) };
    }
    let _ = wide;
    extent_plain(spans)
}

#[inline(always)]
fn extent_plain(spans: &[[u32; 2]]) -> (u64, u64) {
    let (mut end, mut len_max) = (0, 0);
    for &[offset, len] in spans {
        end = end.max(u64::from(offset) + u64::from(len));
        len_max = len_max.max(u64::from(len));
    }
    (end, len_max)
}

/// The same code, which the compiler makes vectors of.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
fn extent_avx512(spans: &[[u32; 2]]) -> (u64, u64) {
    extent_plain(spans)
}

/// Loads and hashes keys as if all were short; the spans lie in the data.
#[inline]
fn hash_short(keys: &mut [Key; FOLD_BATCH], spans: &[[u32; 2]], data: &[u8], hasher: &Hasher, slots: &Slots) {
    #[cfg(target_arch = "x86_64")]
    if hasher.has_masked_loads() {
        // SAFETY: the features were detected when the hasher was made; the spans were checked by the caller.
        unsafe { hash_short_avx512(keys, spans, data, hasher, slots) };
        return;
    }
    let homes = slots.as_slice().as_ptr();
    for (key, &[offset, len]) in keys.iter_mut().zip(spans) {
        let (k0, k1) = load_key(data, offset as usize, len as usize);
        let meta = Slot::meta_of(hasher.order(hasher.short(k0, k1, len)), len);
        let home = slots.home(meta);
        prefetch(homes.wrapping_add(home));
        *key = Key { k0, k1, meta, home: home as u64 };
    }
}

/// The same with masked loads, which touch nothing behind a key.
///
/// # Safety
/// The processor has the features, and the spans lie in the data.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,aes,bmi2")]
unsafe fn hash_short_avx512(
    keys: &mut [Key; FOLD_BATCH],
    spans: &[[u32; 2]],
    data: &[u8],
    hasher: &Hasher,
    slots: &Slots,
) {
    use std::arch::x86_64::*;
    let homes = slots.as_slice().as_ptr();
    let [seed_low, seed_high] = hasher.seeds();
    let seed = _mm_set_epi64x(seed_high as i64, seed_low as i64);
    for (key, &[offset, len]) in keys.iter_mut().zip(spans) {
        let mask = _bzhi_u32(0xffff, len.min(SHORT_BYTES as u32)) as __mmask16;
        // SAFETY: the span lies in the data, and the load reads no more than it has.
        let bytes = unsafe { _mm_maskz_loadu_epi8(mask, data.as_ptr().wrapping_add(offset as usize).cast()) };
        // Three rounds of AES: every bit of the result depends on every bit of the key, for a quarter of the instructions that
        // `Hasher::short` has. The length is in the first round's key: zeros at the end of a key count.
        let once = _mm_aesenc_si128(bytes, _mm_xor_si128(seed, _mm_cvtsi32_si128(len as i32)));
        let hash = _mm_cvtsi128_si64(_mm_aesenc_si128(_mm_aesenc_si128(once, seed), seed)) as u64;
        let meta = Slot::meta_of(hasher.order(hash), len);
        let home = slots.home(meta);
        prefetch(homes.wrapping_add(home));
        // SAFETY: the first 16 bytes of a Key are its two words.
        unsafe { _mm_store_si128(std::ptr::from_mut(key).cast(), bytes) };
        key.meta = meta;
        key.home = home as u64;
    }
}

#[inline(always)]
pub(super) fn slice(data: &[u8], [offset, len]: [u32; 2]) -> &[u8] {
    &data[offset as usize..][..len as usize]
}

#[cold]
pub(super) fn outside(end: u64, len: usize) -> Error {
    Error::new(Code::UserCode, format!("a record was emitted that ends at byte {end} of {len}"))
        .hint("the mapper gives offsets or lengths that do not lie within its batch")
}
