//! Sorting one bucket: vectorised by key bits, then the ties by full key, then by the order of emission.
//!
//! An entry is (key bits | place). Sorting entries as numbers orders them by key bits, and within equal key bits by place. A run
//! of equal key bits is a tie: short ones are sorted by comparing keys, long ones by the next 8 bytes of the key, again and
//! again. Records with equal keys come in the order (split, order of emission), which is not the order of their places where
//! several workers took blocks from one pool: that is mended last.

use std::cmp::Ordering;

use super::routes::Shape;
use super::store::Store;
use super::vsort::{Simd, sort_u64};

/// Ties up to this many records are sorted by comparing.
const SHORT_TIE: usize = 16;
/// Levels of eight bytes after which comparing goes on: bounds the recursion for keys made to hurt.
const LEVELS_MAX: u32 = 48;

/// Sorts the entries of a bucket in place and leaves bare places in them.
pub fn sort_bucket(store: &Store, simd: Simd, shape: Shape, entries: &mut [u64], scratch: &mut Vec<(u64, u64)>) {
    sort_u64(simd, entries);
    let bits = shape.place_bits;
    let mask = (1u64 << bits) - 1;
    let depth = if shape.whole_prefix { 8 } else { 0 };
    let mut start = 0;
    while start < entries.len() {
        let key_bits = entries[start] >> bits;
        let mut end = start + 1;
        while end < entries.len() && entries[end] >> bits == key_bits {
            end += 1;
        }
        let tie = &mut entries[start..end];
        tie.iter_mut().for_each(|e| *e &= mask);
        if tie.len() > SHORT_TIE && depth > 0 && tie.iter().any(|&p| store.key(p).len() < depth) {
            // Padding hides where keys shorter than the prefix end.
            sort_tie(store, tie, 0, LEVELS_MAX, scratch);
        } else if tie.len() > 1 {
            sort_tie(store, tie, depth, LEVELS_MAX, scratch);
        }
        start = end;
    }
}

fn compare(store: &Store, a: u64, b: u64) -> Ordering {
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
    // Where a key ends within these 8 bytes the padding hides it: the bytes left of it, at most 9, decide among equal prefixes.
    scratch.clear();
    scratch.reserve(places.len());
    const LEFT_SHIFT: u32 = 60;
    for (i, &place) in places.iter().enumerate() {
        if let Some(&ahead) = places.get(i + 12) {
            store.prefetch(ahead);
        }
        let key = store.key(place);
        let left = key.len().saturating_sub(depth).min(9) as u64;
        let left = if order.reversed() { 15 - left } else { left };
        scratch.push((order.prefix(key, depth), left << LEFT_SHIFT | place));
    }
    scratch.sort_unstable();
    let more = if order.reversed() { 15 - 9 } else { 9 };
    for (to, from) in places.iter_mut().zip(scratch.iter()) {
        *to = from.1 & ((1 << LEFT_SHIFT) - 1);
    }
    // The classes of the next level, as (start, end, whether keys go on): found before the scratch is used again.
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

/// The depth to which all keys agree, if it is more than `depth`: keys with a long common beginning cost one pass, not a level
/// for each eight bytes of it.
fn common_depth(store: &Store, places: &[u64], depth: usize) -> usize {
    let first = store.key(places[0]);
    let mut common = first.len();
    for &place in &places[1..] {
        let key = store.key(place);
        let n = common.min(key.len());
        if n <= depth + 8 {
            return depth;
        }
        common = depth + first[depth..n].iter().zip(&key[depth..n]).take_while(|(a, b)| a == b).count();
        if common <= depth + 8 {
            return depth;
        }
    }
    // At least one byte is left to every key, or all are equal to the end.
    common & !7
}

/// Sorts the places of equal keys into the order of emission.
fn sort_emitted(store: &Store, places: &mut [u64]) {
    // Places ascend already; most often the blocks were filled in that order too.
    if places.windows(2).all(|w| store.emitted(w[0]) < store.emitted(w[1])) {
        return;
    }
    places.sort_unstable_by_key(|&p| store.emitted(p));
}
