//! Sorting one bucket: vectorised by key bits, then ties by full key, then by the order of emission.
//!
//! An entry is (key bits | place). Sorting entries as numbers orders them by key bits, and within equal key bits by
//! place.
//!
//! A run of equal key bits is a tie. Short ties are sorted by comparing keys, long ties by the next 8 bytes of the key,
//! repeatedly. Records with equal keys must be in the order (split, order of emission). This is not the order of their
//! places if several workers took blocks from one pool, so it is restored last.

use std::cmp::Ordering;

use super::routes::Shape;
use super::store::Store;
use super::vsort::{Simd, sort_u64};

/// Records of a tie that is sorted by comparing, at most.
const SHORT_TIE: usize = 16;
/// Bytes of a common prefix that are skipped at once, at most.
const COMMON_BYTES: usize = 4096;
/// Bytes of two keys that are compared first.
const FIRST_BYTES: usize = 64;
/// Entries between the one that is sorted and the one whose record is prefetched, if it is in a tie.
const AHEAD: usize = 32;
/// Bytes of a key that are prefetched.
const PREFETCH_BYTES: usize = 32;
/// Levels of eight bytes, at most; then keys are compared. This bounds the recursion for adversarial keys.
const LEVELS_MAX: u32 = 48;

/// Sorts the entries of a bucket in place and replaces them by bare places.
pub fn sort_bucket(store: &Store, simd: Simd, shape: Shape, entries: &mut [u64], scratch: &mut Vec<(u64, u64)>) {
    sort_u64(simd, entries);
    let bits = shape.place_bits;
    let mask = (1u64 << bits) - 1;
    let depth = if shape.whole_prefix { 8 } else { 0 };
    let (mut start, mut ahead) = (0, 0);
    while start < entries.len() {
        while ahead < entries.len().min(start + AHEAD) {
            let own = entries[ahead] >> bits;
            let before = ahead > start && entries[ahead - 1] >> bits == own;
            if before || entries.get(ahead + 1).is_some_and(|next| next >> bits == own) {
                store.prefetch_whole(entries[ahead] & mask, PREFETCH_BYTES);
            }
            ahead += 1;
        }
        let key_bits = entries[start] >> bits;
        let mut end = start + 1;
        while end < entries.len() && entries[end] >> bits == key_bits {
            end += 1;
        }
        let tie = &mut entries[start..end];
        tie.iter_mut().for_each(|e| *e &= mask);
        if tie.len() > SHORT_TIE && depth > 0 && tie.iter().any(|&p| store.key_upto(p, depth).len() < depth) {
            // Padding hides the end of keys shorter than the prefix.
            sort_tie(store, tie, 0, LEVELS_MAX, scratch);
        } else if tie.len() > 1 {
            sort_tie(store, tie, depth, LEVELS_MAX, scratch);
        }
        start = end;
    }
}

fn compare(store: &Store, a: u64, b: u64) -> Ordering {
    // Most keys differ early, and the end of a line is not searched for nothing.
    let (first_a, first_b) = (store.key_upto(a, FIRST_BYTES), store.key_upto(b, FIRST_BYTES));
    let first = store.order().compare(first_a, first_b);
    if first != Ordering::Equal {
        return first;
    }
    store.order().compare(store.key(a), store.key(b)).then_with(|| store.emitted(a).cmp(&store.emitted(b)))
}

/// Sorts places whose keys agree in the first `depth` bytes (as far as they have them).
fn sort_tie(store: &Store, places: &mut [u64], depth: usize, levels: u32, scratch: &mut Vec<(u64, u64)>) {
    if places.len() <= SHORT_TIE {
        for i in 1..places.len() {
            let mut j = i;
            while j > 0 && compare(store, places[j], places[j - 1]) == Ordering::Less {
                places.swap(j, j - 1);
                j -= 1;
            }
        }
        return;
    }
    if levels == 0 {
        places.sort_unstable_by(|&a, &b| compare(store, a, b));
        return;
    }
    let order = store.order();
    let depth = common_depth(store, places, depth);
    // Padding hides the end of a key within these 8 bytes. The number of bytes left, at most 9, decides among equal
    // prefixes.
    scratch.clear();
    scratch.reserve(places.len());
    const LEFT_SHIFT: u32 = 60;
    for (i, &place) in places.iter().enumerate() {
        if let Some(&ahead) = places.get(i + 12) {
            store.prefetch(ahead);
        }
        let key = store.key_upto(place, depth + 9);
        let left = key.len().saturating_sub(depth).min(9) as u64;
        let left = if order.reversed() { 15 - left } else { left };
        scratch.push((order.prefix(key, depth), left << LEFT_SHIFT | place));
    }
    scratch.sort_unstable();
    let more = if order.reversed() { 15 - 9 } else { 9 };
    for (to, from) in places.iter_mut().zip(scratch.iter()) {
        *to = from.1 & ((1 << LEFT_SHIFT) - 1);
    }
    // Classes of the next level: (start, end, true if keys go on), found before the scratch is reused.
    let same = |a: &(u64, u64), b: &(u64, u64)| a.0 == b.0 && a.1 >> LEFT_SHIFT == b.1 >> LEFT_SHIFT;
    let mut classes = Vec::new();
    let mut start = 0;
    for chunk in scratch.chunk_by(same) {
        if chunk.len() > 1 {
            classes.push((start, start + chunk.len(), chunk[0].1 >> LEFT_SHIFT == more));
        }
        start += chunk.len();
    }
    for (start, end, goes_on) in classes {
        let class = &mut places[start..end];
        if goes_on {
            sort_tie(store, class, depth + 8, levels - 1, scratch);
        } else {
            sort_emitted(store, class);
        }
    }
}

/// Returns the depth to which all keys agree, if it exceeds `depth`. Keys with a long common prefix cost one pass, not
/// one level for each eight bytes.
fn common_depth(store: &Store, places: &[u64], depth: usize) -> usize {
    let first = store.key_upto(places[0], depth + COMMON_BYTES);
    let mut common = first.len();
    for (i, &place) in places.iter().enumerate().skip(1) {
        if let Some(&next) = places.get(i + AHEAD) {
            store.prefetch_whole(next, PREFETCH_BYTES);
        }
        let key = store.key_upto(place, common);
        let n = common.min(key.len());
        if n <= depth + 8 {
            return depth;
        }
        common = depth + first[depth..n].iter().zip(&key[depth..n]).take_while(|(a, b)| a == b).count();
        if common <= depth + 8 {
            return depth;
        }
    }
    // Every key has at least one byte left, or all keys are equal to the end.
    common & !7
}

/// Sorts the places of equal keys into the order of emission.
fn sort_emitted(store: &Store, places: &mut [u64]) {
    // Places ascend already; usually the blocks were filled in this order too.
    if places.windows(2).all(|w| store.emitted(w[0]) < store.emitted(w[1])) {
        return;
    }
    places.sort_unstable_by_key(|&p| store.emitted(p));
}
