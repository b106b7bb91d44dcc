//! The inner loops of a fold over at most 64 records, for each instruction set. A table chooses one set when it is
//! made; a loop costs one predicted branch for 64 records.
//! One of the listed files with `unsafe`: the calls of these kernels.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod plain;
mod walk;

use super::hash::Hasher;
use super::key::Key;
use super::slot::Slots;
use crate::bytes::simd::Level;
use crate::operator::folder::FOLD_BATCH;

/// Largest end of a span, largest length, and sum of the lengths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Extent {
    pub end: u64,
    pub len_max: u32,
    /// The sum wraps around if a span is outside any data, which the end shows.
    pub len_sum: u32,
}

/// Returns the extent of offsets and lengths.
#[inline]
pub(super) fn extent(level: Level, spans: &[[u32; 2]]) -> Extent {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: the level's features were detected when it was chosen.
    unsafe {
        match level {
            Level::Avx512 => return avx512::extent(spans),
            Level::Avx2 => return avx2::extent(spans),
            Level::Plain => {}
        }
    }
    let _ = level;
    plain::extent(spans)
}

/// Loads and hashes keys as if all were short, and prefetches their homes.
///
/// # Safety
/// The spans are within the data.
#[inline]
pub(super) unsafe fn hash_short(
    keys: &mut [Key; FOLD_BATCH],
    spans: &[[u32; 2]],
    data: &[u8],
    hasher: &Hasher,
    slots: &Slots,
) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: the level's features were detected when it was chosen; the caller vouches for the spans.
    unsafe {
        match hasher.level() {
            Level::Avx512 => return avx512::hash_short(keys, spans, data, hasher, slots),
            Level::Avx2 => return avx2::hash_short(keys, spans, data, hasher, slots),
            Level::Plain => {}
        }
    }
    plain::hash_short(keys, spans, data, hasher, slots);
}

/// Compares both slots of each short key's home. Sets `found` to the matching slots; sets `others` to the numbers of
/// the keys that match neither, and returns how many these are.
///
/// # Safety
/// The keys were hashed for these slots.
#[inline]
pub(super) unsafe fn short_at_home(
    level: Level,
    slots: &Slots,
    keys: &[Key],
    found: &mut [u32; FOLD_BATCH],
    others: &mut [u8; FOLD_BATCH],
) -> usize {
    // SAFETY: the level's features were detected when it was chosen; the caller vouches for the homes.
    unsafe {
        match level {
            #[cfg(target_arch = "x86_64")]
            Level::Avx512 => avx512::short_at_home(slots, keys, found, others),
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 => avx2::short_at_home(slots, keys, found, others),
            _ => plain::at_home::<false>(slots, keys, found, others),
        }
    }
}

/// `short_at_home` for keys of any length; of long keys, only hash and length are compared.
///
/// # Safety
/// The keys were hashed for these slots.
#[inline]
pub(super) unsafe fn any_at_home(
    slots: &Slots,
    keys: &[Key],
    found: &mut [u32; FOLD_BATCH],
    others: &mut [u8; FOLD_BATCH],
) -> usize {
    // SAFETY: the caller vouches for the homes.
    unsafe { plain::at_home::<true>(slots, keys, found, others) }
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;
    use crate::bytes::simd;
    use crate::memory::Budget;

    const NO_KEY: Key = Key { k0: 0, k1: 0, meta: 0, home: 0 };

    #[test]
    fn extents_agree_up_to_the_last_offset() {
        if simd::fold() < Level::Avx2 {
            return;
        }
        let spans: Vec<[u32; 2]> =
            (0..70u32).map(|i| [i.wrapping_mul(2_654_435_761) >> 1, i.wrapping_mul(40_503) % 5000]).collect();
        for len in 0..spans.len() {
            let mut spans = spans[..len].to_vec();
            // SAFETY: the feature was just detected.
            assert_eq!(unsafe { avx2::extent(&spans) }, plain::extent(&spans));
            for (at, large) in [(0, [u32::MAX, 1]), (len / 2, [u32::MAX - 5, 5]), (len / 3, [u32::MAX, u32::MAX])] {
                if at < len {
                    spans[at] = large;
                    // SAFETY: as above.
                    assert_eq!(unsafe { avx2::extent(&spans) }, plain::extent(&spans));
                }
            }
        }
    }

    /// The keys of a table are hashed by the same function wherever they lie, at the end of the data too, and on every
    /// CPU with AES.
    #[test]
    fn keys_load_and_hash_alike_at_every_place() {
        if simd::fold() < Level::Avx2 {
            return;
        }
        let data: Vec<u8> = (1..=80).collect();
        let slots = Slots::try_new(6, &Budget::new(1 << 20)).unwrap().unwrap();
        let hasher = Hasher::new(5);
        for at in 0..data.len() {
            for len in 0..=(data.len() - at).min(16) {
                let span = [[at as u32, len as u32]];
                let mut alone = [NO_KEY; FOLD_BATCH];
                let mut inside = [NO_KEY; FOLD_BATCH];
                let mut padded = data.clone();
                padded.resize(data.len() + 64, 7);
                // SAFETY: the features were detected, and the span is within both.
                unsafe {
                    avx2::hash_short(&mut alone, &span, &data, &hasher, &slots);
                    avx2::hash_short(&mut inside, &span, &padded, &hasher, &slots);
                }
                let (k0, k1) = crate::fold::slot::load_key(&data, at, len);
                for key in [alone[0], inside[0]] {
                    assert_eq!((key.k0, key.k1, key.meta), (k0, k1, alone[0].meta), "{at} {len}");
                    assert_eq!(key.home as usize, slots.home(key.meta));
                }
                if simd::fold() == Level::Avx512 {
                    let mut wide = [NO_KEY; FOLD_BATCH];
                    // SAFETY: the level was just detected, and the span is within the data.
                    unsafe { avx512::hash_short(&mut wide, &span, &data, &hasher, &slots) };
                    assert_eq!((wide[0].k0, wide[0].k1, wide[0].meta), (k0, k1, alone[0].meta), "{at} {len}");
                }
            }
        }
    }

    /// Rounds of AES spread clustered keys as the multiplication does; see the test of hash.rs.
    #[test]
    fn clustered_keys_spread_by_aes() {
        if simd::fold() < Level::Avx2 {
            return;
        }
        let n = 1u32 << 16;
        let cases: Vec<(&str, Vec<Vec<u8>>)> = vec![
            ("numbers as text", (0..n).map(|i| i.to_string().into_bytes()).collect()),
            ("padded numbers", (0..n).map(|i| format!("user{i:012}").into_bytes()).collect()),
            ("little endian", (0..n).map(|i| u64::from(i).to_le_bytes().to_vec()).collect()),
            ("big endian", (0..n).map(|i| u64::from(i).to_be_bytes().to_vec()).collect()),
            ("strided", (0..n).map(|i| (u64::from(i) << 20).to_le_bytes().to_vec()).collect()),
            ("both words alike", (0..n).map(|i| [u64::from(i).to_le_bytes(); 2].concat()).collect()),
            ("zeros", (0..17).map(|i| vec![0; i]).collect()),
        ];
        let slots = Slots::try_new(6, &Budget::new(1 << 20)).unwrap().unwrap();
        for seed in 0..8 {
            let hasher = Hasher::new(seed);
            for (name, keys) in &cases {
                let mut full = vec![0u32; keys.len()];
                for some in keys.chunks(FOLD_BATCH) {
                    let mut data = Vec::new();
                    let mut spans = Vec::new();
                    for key in some {
                        spans.push([data.len() as u32, key.len() as u32]);
                        data.extend_from_slice(key);
                    }
                    let mut hashed = [NO_KEY; FOLD_BATCH];
                    // SAFETY: the features were detected, and the spans are within the data.
                    unsafe { avx2::hash_short(&mut hashed, &spans, &data, &hasher, &slots) };
                    for key in &hashed[..some.len()] {
                        full[(((key.meta >> 32) * keys.len() as u64) >> 32) as usize] += 1;
                    }
                }
                let filled = full.iter().filter(|&&n| n > 0).count() as f64 / full.len() as f64;
                let max = *full.iter().max().unwrap();
                let least = if full.len() < 100 { 0.3 } else { 0.5 };
                assert!(filled > least && max <= 12, "{name}: {filled} of the cells filled, up to {max} keys in one");
            }
        }
    }
}
