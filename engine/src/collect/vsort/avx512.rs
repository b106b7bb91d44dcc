//! The AVX-512 kernel of the entry sort: a quicksort whose partition and base case stay in registers.
//!
//! One of the listed files with `unsafe`: vector loads and stores take raw pointers.

use std::arch::x86_64::*;
use std::mem::MaybeUninit;

const LANES: usize = 8;
/// Vectors that the partition reads from one side before it chooses a side again. 2 were a quarter slower.
const BLOCK_VECTORS: usize = 4;
const BLOCK: usize = BLOCK_VECTORS * LANES;
/// The longest slice that goes to the network. 64 lost 8 %; 256 gained 2 % for twice the instruction cache.
const BASE: usize = 128;
/// From this length on, the pivot is the median of 9 vectors and not of 3.
const NINTHER_LEN_MIN: usize = 2048;

pub(super) fn is_available() -> bool {
    crate::bytes::simd::avx512_sort()
}

/// Sorts `keys` ascending, in place. A part still too long after `depth` partitions goes to the plain sort.
pub(super) fn sort(keys: &mut [u64], depth: u32) {
    assert!(is_available(), "this machine has no avx512");
    // SAFETY: the line above checked every feature that `quicksort` enables.
    unsafe { quicksort(keys, depth) }
}

quicksort_frame!("avx512f,avx512dq,avx512bw,avx512vl,popcnt", __m512i);

/// Returns the key in the middle of a vector.
#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512bw,avx512vl,popcnt")]
fn middle(v: __m512i) -> u64 {
    let sorted = settle8(settle4(settle2(v)));
    _mm_cvtsi128_si64(_mm512_extracti64x2_epi64::<2>(sorted)) as u64
}

#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512bw,avx512vl,popcnt")]
fn load(keys: &[u64], at: usize) -> __m512i {
    let eight = &keys[at..at + LANES];
    // SAFETY: `eight` is 8 keys long, and the load needs no alignment.
    unsafe { _mm512_loadu_si512(eight.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512bw,avx512vl,popcnt")]
fn median3(a: __m512i, b: __m512i, c: __m512i) -> __m512i {
    let (low, high) = min_max(a, b);
    _mm512_max_epu64(low, _mm512_min_epu64(high, c))
}

/// # Safety
/// 8 keys are readable at `at`.
#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512bw,avx512vl,popcnt")]
unsafe fn load_vector(at: *const u64) -> __m512i {
    // SAFETY: the caller vouches for the keys, and the load needs no alignment.
    unsafe { _mm512_loadu_si512(at.cast()) }
}

/// The writing half of a partition.
struct Dealer<const OR_EQUAL: bool> {
    base: *mut u64,
    /// Position of the next low key.
    write: usize,
    /// Keys not written yet; the next high key goes to `write + gap - 1`.
    gap: usize,
    pivot: __m512i,
}

impl<const OR_EQUAL: bool> Dealer<OR_EQUAL> {
    #[inline]
    #[target_feature(enable = "avx512f,avx512dq,avx512bw,avx512vl,popcnt")]
    fn new(base: *mut u64, len: usize, pivot: u64) -> Self {
        Dealer { base, write: 0, gap: len, pivot: _mm512_set1_epi64(pivot as i64) }
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512dq,avx512bw,avx512vl,popcnt")]
    fn is_low(&self, vector: __m512i) -> __mmask8 {
        if OR_EQUAL { _mm512_cmple_epu64_mask(vector, self.pivot) } else { _mm512_cmplt_epu64_mask(vector, self.pivot) }
    }

    /// Writes the vector, its low keys in front, whole to both ends of the gap: what is beyond its low keys on the
    /// left, and before its high keys on the right, falls into free space and is overwritten later. That is one table
    /// look-up and one permutation, where compressing takes two (and compressing into memory is microcode on Zen 4).
    ///
    /// # Safety
    /// 8 keys of space are free at each end of the gap, one end clear of the other, or the gap is exactly 8 keys.
    /// (A gap of 9 to 15 would have the second store overwrite low keys of the first.)
    #[inline]
    #[target_feature(enable = "avx512f,avx512dq,avx512bw,avx512vl,popcnt")]
    unsafe fn deal(&mut self, vector: __m512i) {
        let lows = self.is_low(vector);
        self.gap -= LANES;
        let nibbles = _mm512_set1_epi32(LOWS_FIRST[lows as usize] as i32);
        let order = _mm512_srlv_epi64(nibbles, _mm512_setr_epi64(0, 4, 8, 12, 16, 20, 24, 28));
        let dealt = _mm512_permutexvar_epi64(order, vector);
        debug_assert!(self.gap == 0 || self.gap >= LANES);
        // SAFETY: the caller vouches for the space.
        unsafe {
            _mm512_storeu_si512(self.base.add(self.write).cast(), dealt);
            _mm512_storeu_si512(self.base.add(self.write + self.gap).cast(), dealt);
        }
        self.write += lows.count_ones() as usize;
    }

    /// Writes the `count` keys at `at`, fewer than 8.
    ///
    /// # Safety
    /// They are readable, and `count` keys of space are free at each end of the gap.
    #[inline]
    #[target_feature(enable = "avx512f,avx512dq,avx512bw,avx512vl,popcnt")]
    unsafe fn deal_odd(&mut self, at: *const u64, count: usize, _pivot: u64) {
        let lanes = (1u8 << count) - 1;
        // SAFETY: the mask admits the keys at `at` only, and masked lanes are not read.
        let vector = unsafe { _mm512_maskz_loadu_epi64(lanes, at.cast()) };
        let lows = self.is_low(vector) & lanes;
        let low_count = lows.count_ones() as usize;
        let low_keys = _mm512_maskz_compress_epi64(lows, vector);
        let high_keys = _mm512_maskz_compress_epi64(lanes & !lows, vector);
        self.gap -= count;
        // SAFETY: the masks admit `low_count` keys at the gap's start, the others at its end.
        unsafe {
            _mm512_mask_storeu_epi64(self.base.add(self.write).cast(), (1 << low_count) - 1, low_keys);
            let high_at = self.base.add(self.write + low_count + self.gap);
            _mm512_mask_storeu_epi64(high_at.cast(), (1 << (count - low_count)) - 1, high_keys);
        }
        self.write += low_count;
    }
}

/// Lane numbers for each mask of low lanes, the low lanes first, in nibbles from the lowest up.
static LOWS_FIRST: [u32; 256] = lows_first();

const fn lows_first() -> [u32; 256] {
    let mut orders = [0u32; 256];
    let mut mask = 0;
    while mask < 256 {
        let mut low_at = 0;
        let mut high_at = (mask as u32).count_ones();
        let mut lane = 0;
        while lane < 8 {
            if mask >> lane & 1 == 1 {
                orders[mask] |= lane << (4 * low_at);
                low_at += 1;
            } else {
                orders[mask] |= lane << (4 * high_at);
                high_at += 1;
            }
            lane += 1;
        }
        mask += 1;
    }
    orders
}

#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512bw,avx512vl,popcnt")]
fn sort_base(keys: &mut [u64]) {
    match keys.len() {
        0..=1 => (),
        2..=8 => sort_rows::<1, 0>(keys),
        9..=16 => sort_rows::<2, 1>(keys),
        17..=32 => sort_rows::<4, 2>(keys),
        33..=48 => sort_rows::<6, 4>(keys),
        49..=64 => sort_rows::<8, 6>(keys),
        65..=96 => sort_rows::<12, 8>(keys),
        _ => sort_rows::<16, 12>(keys),
    }
}

/// Settles the rows two at a time, which takes half the shuffles and comparators of one at a time.
macro_rules! settle_rows {
    ($v:ident, $rows:ident, $settle:ident, $settle_pair:ident) => {
        if $rows == 1 {
            $v[0] = $settle($v[0]);
        } else {
            for row in (0..$rows).step_by(2) {
                ($v[row], $v[row + 1]) = $settle_pair($v[row], $v[row + 1]);
            }
        }
    };
}

/// Sorts at most `ROWS` x 8 keys in registers; the first `FULL` x 8 are certainly present.
#[inline(never)]
#[target_feature(enable = "avx512f,avx512dq,avx512bw,avx512vl,popcnt")]
fn sort_rows<const ROWS: usize, const FULL: usize>(keys: &mut [u64]) {
    let len = keys.len();
    assert!(FULL * LANES <= len && len <= ROWS * LANES);
    let base = keys.as_mut_ptr();
    let largest = _mm512_set1_epi64(-1);
    let mut v = [largest; 16];
    for (row, vector) in v[..ROWS].iter_mut().enumerate() {
        let at = base.wrapping_add(row * LANES).cast();
        *vector = if row < FULL {
            // SAFETY: the first `FULL` rows are within `keys`.
            unsafe { _mm512_loadu_si512(at) }
        } else {
            // SAFETY: the mask admits the keys that are there, and masked lanes are not read.
            unsafe { _mm512_mask_loadu_epi64(largest, row_mask(len, row), at.cast()) }
        };
    }

    sort_columns!(v, ROWS, min_max);
    merge_groups!(v, ROWS, min_max, swap2);
    settle_rows!(v, ROWS, settle2, settle2_pair);
    merge_groups!(v, ROWS, min_max, reverse4);
    settle_rows!(v, ROWS, settle4, settle4_pair);
    merge_groups!(v, ROWS, min_max, reverse8);
    settle_rows!(v, ROWS, settle8, settle8_pair);

    for (row, vector) in v[..ROWS].iter().enumerate() {
        let at = base.wrapping_add(row * LANES).cast();
        if row < FULL {
            // SAFETY: the first `FULL` rows are within `keys`.
            unsafe { _mm512_storeu_si512(at, *vector) };
        } else {
            // SAFETY: the mask admits the keys that are there, and masked lanes are not written.
            unsafe { _mm512_mask_storeu_epi64(at.cast(), row_mask(len, row), *vector) };
        }
    }
}

/// The lanes of `row` that hold one of `len` keys.
#[inline]
fn row_mask(len: usize, row: usize) -> __mmask8 {
    let lanes = len.saturating_sub(row * LANES).min(LANES);
    (0xff_u32 >> (LANES - lanes)) as u8
}

/// The larger key is what the exclusive or leaves: minimum, maximum and shuffles share one port, this has another.
#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512bw,avx512vl,popcnt")]
fn min_max(a: __m512i, b: __m512i) -> (__m512i, __m512i) {
    let low = _mm512_min_epu64(a, b);
    (low, _mm512_ternarylogic_epi64::<XOR3>(a, b, low))
}

const XOR3: i32 = 0b1001_0110;

#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512bw,avx512vl,popcnt")]
fn swap2(v: __m512i) -> __m512i {
    _mm512_shuffle_epi32::<0b01_00_11_10>(v)
}

#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512bw,avx512vl,popcnt")]
fn reverse4(v: __m512i) -> __m512i {
    _mm512_permutex_epi64::<0b00_01_10_11>(v)
}

#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512bw,avx512vl,popcnt")]
fn reverse8(v: __m512i) -> __m512i {
    _mm512_permutexvar_epi64(_mm512_setr_epi64(7, 6, 5, 4, 3, 2, 1, 0), v)
}

/// The highest of each two lanes, of each four, of the eight: where the larger keys of a comparator go.
const HIGHS2: __mmask8 = 0b1010_1010;
const HIGHS4: __mmask8 = 0b1100_1100;
const HIGHS8: __mmask8 = 0b1111_0000;

/// Compares each lane with its partner: the smaller key, in the lanes `highs` the larger.
#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512bw,avx512vl,popcnt")]
fn settle(v: __m512i, partner: __m512i, highs: __mmask8) -> __m512i {
    let low = _mm512_min_epu64(v, partner);
    _mm512_mask_ternarylogic_epi64::<XOR3>(low, highs, v, partner)
}

/// Sorts each two lanes.
#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512bw,avx512vl,popcnt")]
fn settle2(v: __m512i) -> __m512i {
    settle(v, swap2(v), HIGHS2)
}

/// Sorts each four lanes, bitonic so far.
#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512bw,avx512vl,popcnt")]
fn settle4(v: __m512i) -> __m512i {
    settle2(settle(v, reverse4(v), HIGHS4))
}

/// Sorts the eight lanes, bitonic so far.
#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512bw,avx512vl,popcnt")]
fn settle8(v: __m512i) -> __m512i {
    let v = settle(v, reverse8(v), HIGHS8);
    settle2(settle(v, _mm512_permutex_epi64::<0b01_00_11_10>(v), HIGHS4))
}

/// Compares partner lanes within `a` and within `b` at once, and gives all the smaller keys, then all the larger:
/// those of `a` in the low lanes, those of `b` in the lanes `highs`. `partners` names, for each low lane, the partner
/// in `a` (0 to 7), for each high lane that in `b` (8 to 15).
#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512bw,avx512vl,popcnt")]
fn settle_pair(a: __m512i, b: __m512i, partners: __m512i, highs: __mmask8) -> (__m512i, __m512i) {
    min_max(_mm512_mask_blend_epi64(highs, a, b), _mm512_permutex2var_epi64(a, partners, b))
}

/// `settle_pair` for lanes that are neighbours.
#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512bw,avx512vl,popcnt")]
fn settle_neighbours(a: __m512i, b: __m512i) -> (__m512i, __m512i) {
    settle_pair(a, b, _mm512_setr_epi64(1, 8, 3, 10, 5, 12, 7, 14), HIGHS2)
}

/// `settle2` of both.
#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512bw,avx512vl,popcnt")]
fn settle2_pair(a: __m512i, b: __m512i) -> (__m512i, __m512i) {
    let (low, high) = settle_neighbours(a, b);
    // The lanes, by the row they belong to and their place there, are now [a0 b0 ...] and [a1 b1 ...].
    let crossed =
        _mm512_castpd_si512(_mm512_shuffle_pd::<0b0101_0101>(_mm512_castsi512_pd(low), _mm512_castsi512_pd(high)));
    (_mm512_mask_blend_epi64(HIGHS2, low, crossed), _mm512_mask_blend_epi64(HIGHS2, crossed, high))
}

/// `settle4` of both.
#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512bw,avx512vl,popcnt")]
fn settle4_pair(a: __m512i, b: __m512i) -> (__m512i, __m512i) {
    let (low, high) = settle_pair(a, b, _mm512_setr_epi64(3, 2, 9, 8, 7, 6, 13, 12), HIGHS4);
    let (low, high) = settle_neighbours(low, high);
    // [a0 a2 b0 b2 ...] and [a1 a3 b1 b3 ...]
    (
        _mm512_permutex2var_epi64(low, _mm512_setr_epi64(0, 8, 1, 9, 4, 12, 5, 13), high),
        _mm512_permutex2var_epi64(low, _mm512_setr_epi64(2, 10, 3, 11, 6, 14, 7, 15), high),
    )
}

/// `settle8` of both.
#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512bw,avx512vl,popcnt")]
fn settle8_pair(a: __m512i, b: __m512i) -> (__m512i, __m512i) {
    let (low, high) = settle_pair(a, b, _mm512_setr_epi64(7, 6, 5, 4, 11, 10, 9, 8), HIGHS8);
    let (low, high) = settle_pair(low, high, _mm512_setr_epi64(2, 3, 8, 9, 6, 7, 12, 13), HIGHS4);
    let (low, high) = settle_neighbours(low, high);
    // [a0 a2 a4 a6 b0 b2 b4 b6] and [a1 a3 a5 a7 b1 b3 b5 b7]
    (
        _mm512_permutex2var_epi64(low, _mm512_setr_epi64(0, 8, 1, 9, 2, 10, 3, 11), high),
        _mm512_permutex2var_epi64(low, _mm512_setr_epi64(4, 12, 5, 13, 6, 14, 7, 15), high),
    )
}
