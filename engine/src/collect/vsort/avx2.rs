//! The AVX2 kernel of the entry sort: the AVX-512 kernel's quicksort with half the lanes, for machines without it.
//!
//! One of the listed files with `unsafe`: vector loads and stores take raw pointers.
//!
//! AVX2 compares 64-bit lanes as signed numbers only, so every compared key has its highest bit flipped first; the
//! partition moves the keys as they are, the base case flips on load and flips back on store.

use std::arch::x86_64::*;
use std::mem::MaybeUninit;

const LANES: usize = 4;
/// Vectors that the partition reads from one side before it chooses a side again. 4 were 10 % slower.
const BLOCK_VECTORS: usize = 8;
const BLOCK: usize = BLOCK_VECTORS * LANES;
/// The longest slice that goes to the network: 16 rows, which spill from 16 registers and yet beat 8 by 10 %.
const BASE: usize = 64;
/// From this length on, the pivot is the median of 9 vectors and not of 3.
const NINTHER_LEN_MIN: usize = 512;

pub(super) fn is_available() -> bool {
    crate::bytes::simd::avx2_sort()
}

/// Sorts `keys` ascending, in place. A part still too long after `depth` partitions goes to the plain sort.
pub(super) fn sort(keys: &mut [u64], depth: u32) {
    assert!(is_available(), "this machine has no avx2");
    // SAFETY: the line above checked every feature that `quicksort` enables.
    unsafe { quicksort(keys, depth) }
}

quicksort_frame!("avx2,popcnt", __m256i);

/// Returns the key in the middle of a vector of flipped keys.
#[inline]
#[target_feature(enable = "avx2,popcnt")]
fn middle(v: __m256i) -> u64 {
    let sorted = flip(settle4(settle2(v)));
    _mm_cvtsi128_si64(_mm256_extracti128_si256::<1>(sorted)) as u64
}

/// Returns four keys, flipped.
#[inline]
#[target_feature(enable = "avx2,popcnt")]
fn load(keys: &[u64], at: usize) -> __m256i {
    let four = &keys[at..at + LANES];
    // SAFETY: `four` is 4 keys long, and the load needs no alignment.
    flip(unsafe { _mm256_loadu_si256(four.as_ptr().cast()) })
}

/// Flips the highest bit of every lane: unsigned order becomes signed order, and back.
#[inline]
#[target_feature(enable = "avx2,popcnt")]
fn flip(v: __m256i) -> __m256i {
    _mm256_xor_si256(v, _mm256_set1_epi64x(i64::MIN))
}

#[inline]
#[target_feature(enable = "avx2,popcnt")]
fn median3(a: __m256i, b: __m256i, c: __m256i) -> __m256i {
    let (low, high) = min_max(a, b);
    let (middle, _) = min_max(high, c);
    min_max(low, middle).1
}

/// # Safety
/// 4 keys are readable at `at`.
#[inline]
#[target_feature(enable = "avx2,popcnt")]
unsafe fn load_vector(at: *const u64) -> __m256i {
    // SAFETY: the caller vouches for the keys, and the load needs no alignment.
    unsafe { _mm256_loadu_si256(at.cast()) }
}

/// The writing half of a partition.
struct Dealer<const OR_EQUAL: bool> {
    base: *mut u64,
    /// Position of the next low key.
    write: usize,
    /// Keys not written yet; the next high key goes to `write + gap - 1`.
    gap: usize,
    flipped_pivot: __m256i,
}

impl<const OR_EQUAL: bool> Dealer<OR_EQUAL> {
    #[inline]
    #[target_feature(enable = "avx2,popcnt")]
    fn new(base: *mut u64, len: usize, pivot: u64) -> Self {
        Dealer { base, write: 0, gap: len, flipped_pivot: flip(_mm256_set1_epi64x(pivot as i64)) }
    }

    /// Writes the vector, its low keys in front, whole to both ends of the gap: what is beyond its low keys on the
    /// left, and before its high keys on the right, falls into free space and is overwritten later.
    ///
    /// # Safety
    /// 4 keys of space are free at each end of the gap, one end clear of the other, or the gap is exactly 4 keys.
    /// (A gap of 5 to 7 would have the second store overwrite low keys of the first.)
    #[inline]
    #[target_feature(enable = "avx2,popcnt")]
    unsafe fn deal(&mut self, vector: __m256i) {
        let flipped = flip(vector);
        let lows = if OR_EQUAL {
            lane_mask(_mm256_cmpgt_epi64(flipped, self.flipped_pivot)) ^ 0b1111
        } else {
            lane_mask(_mm256_cmpgt_epi64(self.flipped_pivot, flipped))
        };
        self.gap -= LANES;
        let order = &LOWS_FIRST[lows];
        debug_assert!(self.gap == 0 || self.gap >= LANES);
        // SAFETY: an order is 8 half lanes, a whole vector; the caller vouches for the space.
        unsafe {
            let dealt = _mm256_permutevar8x32_epi32(vector, _mm256_loadu_si256(order.as_ptr().cast()));
            _mm256_storeu_si256(self.base.add(self.write).cast(), dealt);
            _mm256_storeu_si256(self.base.add(self.write + self.gap).cast(), dealt);
        }
        self.write += lows.count_ones() as usize;
    }

    /// Writes the `count` keys at `at`, fewer than 4.
    ///
    /// # Safety
    /// They are readable, and the gap has room for them.
    #[inline]
    unsafe fn deal_odd(&mut self, at: *const u64, count: usize, pivot: u64) {
        for i in 0..count {
            // SAFETY: the caller vouches for the keys and the room.
            unsafe { self.deal_one(at.add(i).read(), pivot) };
        }
    }

    /// # Safety
    /// The gap has room for a key.
    #[inline]
    unsafe fn deal_one(&mut self, key: u64, pivot: u64) {
        let is_low = if OR_EQUAL { key <= pivot } else { key < pivot };
        self.gap -= 1;
        // SAFETY: `write` and `write + gap` are the first and the last place of the gap.
        unsafe { self.base.add(self.write + if is_low { 0 } else { self.gap }).write(key) };
        self.write += usize::from(is_low);
    }
}

/// A bit for each lane of a comparison's result.
#[inline]
#[target_feature(enable = "avx2,popcnt")]
fn lane_mask(compared: __m256i) -> usize {
    _mm256_movemask_pd(_mm256_castsi256_pd(compared)) as usize & 0b1111
}

/// Half-lane numbers for each mask of low lanes, the low lanes first.
static LOWS_FIRST: [[u32; 8]; 16] = lows_first();

const fn lows_first() -> [[u32; 8]; 16] {
    let mut orders = [[0u32; 8]; 16];
    let mut mask = 0;
    while mask < 16 {
        let mut low_at = 0;
        let mut high_at = (mask as u32).count_ones() as usize;
        let mut lane = 0;
        while lane < 4 {
            let at = if mask >> lane & 1 == 1 { &mut low_at } else { &mut high_at };
            orders[mask][2 * *at] = 2 * lane;
            orders[mask][2 * *at + 1] = 2 * lane + 1;
            *at += 1;
            lane += 1;
        }
        mask += 1;
    }
    orders
}

#[inline]
#[target_feature(enable = "avx2,popcnt")]
fn sort_base(keys: &mut [u64]) {
    match keys.len() {
        0..=1 => (),
        2..=4 => sort_rows::<1, 0>(keys),
        5..=8 => sort_rows::<2, 1>(keys),
        9..=16 => sort_rows::<4, 2>(keys),
        17..=24 => sort_rows::<6, 4>(keys),
        25..=32 => sort_rows::<8, 6>(keys),
        33..=48 => sort_rows::<12, 8>(keys),
        _ => sort_rows::<16, 12>(keys),
    }
}

/// Sorts at most `ROWS` x 4 keys in registers; the first `FULL` x 4 are certainly present.
#[inline(never)]
#[target_feature(enable = "avx2,popcnt")]
fn sort_rows<const ROWS: usize, const FULL: usize>(keys: &mut [u64]) {
    let len = keys.len();
    assert!(FULL * LANES <= len && len <= ROWS * LANES);
    let base = keys.as_mut_ptr();
    let largest = _mm256_set1_epi64x(i64::MAX);
    let mut v = [largest; 16];
    for (row, vector) in v[..ROWS].iter_mut().enumerate() {
        let at = base.wrapping_add(row * LANES).cast();
        *vector = if row < FULL {
            // SAFETY: the first `FULL` rows are within `keys`.
            flip(unsafe { _mm256_loadu_si256(at) })
        } else {
            let mask = row_mask(len, row);
            // SAFETY: the mask admits the keys that are there, and masked lanes are not read.
            let part = unsafe { _mm256_maskload_epi64(at.cast(), mask) };
            _mm256_blendv_epi8(largest, flip(part), mask)
        };
    }

    sort_columns!(v, ROWS, min_max);
    merge_groups!(v, ROWS, min_max, swap2);
    for vector in &mut v[..ROWS] {
        *vector = settle2(*vector);
    }
    merge_groups!(v, ROWS, min_max, reverse4);
    for vector in &mut v[..ROWS] {
        *vector = settle4(*vector);
    }

    for (row, vector) in v[..ROWS].iter().enumerate() {
        let at = base.wrapping_add(row * LANES).cast();
        if row < FULL {
            // SAFETY: the first `FULL` rows are within `keys`.
            unsafe { _mm256_storeu_si256(at, flip(*vector)) };
        } else {
            // SAFETY: the mask admits the keys that are there, and masked lanes are not written.
            unsafe { _mm256_maskstore_epi64(at.cast(), row_mask(len, row), flip(*vector)) };
        }
    }
}

/// All ones in the lanes of `row` that hold one of `len` keys.
#[inline]
#[target_feature(enable = "avx2,popcnt")]
fn row_mask(len: usize, row: usize) -> __m256i {
    let lanes = len.saturating_sub(row * LANES).min(LANES);
    _mm256_cmpgt_epi64(_mm256_set1_epi64x(lanes as i64), _mm256_setr_epi64x(0, 1, 2, 3))
}

/// Three exclusive ors and an and: blending by a mask takes three steps a blend on recent Intel.
#[inline]
#[target_feature(enable = "avx2,popcnt")]
fn min_max(a: __m256i, b: __m256i) -> (__m256i, __m256i) {
    let above = _mm256_cmpgt_epi64(a, b);
    let exchanged = _mm256_and_si256(_mm256_xor_si256(a, b), above);
    (_mm256_xor_si256(a, exchanged), _mm256_xor_si256(b, exchanged))
}

#[inline]
#[target_feature(enable = "avx2,popcnt")]
fn swap2(v: __m256i) -> __m256i {
    _mm256_shuffle_epi32::<0b01_00_11_10>(v)
}

#[inline]
#[target_feature(enable = "avx2,popcnt")]
fn reverse4(v: __m256i) -> __m256i {
    _mm256_permute4x64_epi64::<0b00_01_10_11>(v)
}

/// Sorts each two lanes.
#[inline]
#[target_feature(enable = "avx2,popcnt")]
fn settle2(v: __m256i) -> __m256i {
    let (low, high) = min_max(v, swap2(v));
    _mm256_blend_epi32::<0b1100_1100>(low, high)
}

/// Sorts the four lanes, bitonic so far.
#[inline]
#[target_feature(enable = "avx2,popcnt")]
fn settle4(v: __m256i) -> __m256i {
    let (low, high) = min_max(v, reverse4(v));
    settle2(_mm256_blend_epi32::<0b1111_0000>(low, high))
}
