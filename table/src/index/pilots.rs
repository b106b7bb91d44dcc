//! Pilots of one part: found for the largest buckets first. A bucket that no pilot fits pushes out what costs least.

use super::place::Sizes;

/// A slot without a key.
const FREE: u32 = u32::MAX;
/// Attempts a bucket, on average, after which the part is given up.
const PUSHES: usize = 20;
const PUSHES_MIN: usize = 1000;
/// The last buckets that were placed: they are not pushed out at once, or two would do so forever.
const RECENT: usize = 16;

/// Pilots of a part, or why there are none.
#[derive(Debug, PartialEq, Eq)]
pub enum Found {
    Pilots(Vec<u8>),
    /// Two keys have the same hash, or the part has more keys than slots, or no pilots fit: another seed may help.
    Nothing,
}

/// Keys of a part by bucket.
struct Buckets {
    hashes: Vec<u64>,
    /// Begin of each bucket, and the end of the last.
    begins: Vec<u32>,
}

impl Buckets {
    fn of(hashes: &[u64], sizes: &Sizes) -> Buckets {
        let mut begins = vec![0_u32; sizes.buckets() as usize + 1];
        for hash in hashes {
            begins[sizes.bucket_in_part(*hash) as usize + 1] += 1;
        }
        for bucket in 0..sizes.buckets() as usize {
            begins[bucket + 1] += begins[bucket];
        }
        let mut next = begins.clone();
        let mut sorted = vec![0; hashes.len()];
        for hash in hashes {
            let at = &mut next[sizes.bucket_in_part(*hash) as usize];
            sorted[*at as usize] = *hash;
            *at += 1;
        }
        Buckets { hashes: sorted, begins }
    }

    fn of_bucket(&self, bucket: u32) -> &[u64] {
        &self.hashes[self.begins[bucket as usize] as usize..self.begins[bucket as usize + 1] as usize]
    }

    fn len(&self, bucket: u32) -> usize {
        self.of_bucket(bucket).len()
    }
}

/// Finds the pilots of a part with these hashes.
pub fn find(hashes: &[u64], sizes: &Sizes) -> Found {
    if hashes.len() > sizes.slots as usize {
        return Found::Nothing;
    }
    let buckets = Buckets::of(hashes, sizes);
    let has_twice = |hashes: &[u64]| (1..hashes.len()).any(|at| hashes[..at].contains(&hashes[at]));
    if (0..sizes.buckets()).any(|bucket| has_twice(buckets.of_bucket(bucket))) {
        return Found::Nothing;
    }
    let order = by_size(&buckets, sizes.buckets());
    let mut search = Search {
        sizes,
        buckets: &buckets,
        pilots: vec![0; sizes.buckets() as usize],
        owners: vec![FREE; sizes.slots as usize],
        taken: vec![0; sizes.slots.div_ceil(64) as usize],
        steps: std::array::from_fn(|pilot| Sizes::step(pilot as u8)),
        recent: [FREE; RECENT],
        pushes: 0,
    };
    let most = PUSHES_MIN + PUSHES * order.len();
    let mut waiting = Vec::new();
    for bucket in order {
        if !search.place_in_free_slots(bucket) && !search.place(bucket, most, &mut waiting) {
            return Found::Nothing;
        }
    }
    Found::Pilots(search.pilots)
}

/// Returns the buckets that have keys, the largest first.
fn by_size(buckets: &Buckets, count: u32) -> Vec<u32> {
    let largest = (0..count).map(|bucket| buckets.len(bucket)).max().unwrap_or(0);
    let mut ends = vec![0_usize; largest + 2];
    (0..count).for_each(|bucket| ends[largest - buckets.len(bucket) + 1] += 1);
    for at in 1..ends.len() {
        ends[at] += ends[at - 1];
    }
    // Those without keys are behind all others.
    let with_keys = ends[largest];
    let mut order = vec![0; count as usize];
    for bucket in 0..count {
        let at = &mut ends[largest - buckets.len(bucket)];
        order[*at] = bucket;
        *at += 1;
    }
    order.truncate(with_keys);
    order
}

struct Search<'a> {
    sizes: &'a Sizes,
    buckets: &'a Buckets,
    pilots: Vec<u8>,
    /// Bucket of each slot.
    owners: Vec<u32>,
    /// A bit for each slot that has an owner: all of them fit in the nearest cache.
    taken: Vec<u64>,
    steps: [u64; 256],
    recent: [u32; RECENT],
    pushes: usize,
}

impl Search<'_> {
    /// Places a bucket if a pilot has free slots for all of its keys.
    fn place_in_free_slots(&mut self, bucket: u32) -> bool {
        let Some(pilot) = self.free_pilot(bucket) else { return false };
        self.take(bucket, pilot);
        self.recent[self.pushes % RECENT] = bucket;
        true
    }

    /// Places a bucket that has no free slots, and again all that it pushes out. Returns false after `most` pushes of
    /// this part.
    fn place(&mut self, bucket: u32, most: usize, waiting: &mut Vec<u32>) -> bool {
        waiting.clear();
        waiting.push(bucket);
        while let Some(bucket) = waiting.pop() {
            if self.place_in_free_slots(bucket) {
                continue;
            }
            self.pushes += 1;
            let Some(pilot) = self.cheapest_pilot(bucket).filter(|_| self.pushes <= most) else {
                return false;
            };
            self.push_out(bucket, pilot, waiting);
            self.take(bucket, pilot);
            self.recent[self.pushes % RECENT] = bucket;
            // The largest one next: it is the hardest to place.
            waiting.sort_by_key(|bucket| self.buckets.len(*bucket));
        }
        true
    }

    fn slots(&self, bucket: u32, pilot: u8) -> impl Iterator<Item = usize> + use<'_> {
        let step = self.steps[usize::from(pilot)];
        self.buckets.of_bucket(bucket).iter().map(move |hash| self.sizes.slot_of_step(*hash, step) as usize)
    }

    /// Returns true if keys of a bucket have one slot.
    fn meets_itself(&self, bucket: u32, pilot: u8) -> bool {
        let count = self.buckets.len(bucket);
        (1..count).any(|at| {
            let own = self.slots(bucket, pilot).nth(at);
            self.slots(bucket, pilot).take(at).any(|slot| Some(slot) == own)
        })
    }

    fn free_pilot(&self, bucket: u32) -> Option<u8> {
        let hashes = self.buckets.of_bucket(bucket);
        // Not from the same pilot on each time: equal pilots of neighbours would find the same slots taken.
        let first = bucket.wrapping_mul(0x9E37_79B9) >> 24;
        let mut slots = [0_u32; 32];
        (0..=255_u8).map(|step| step.wrapping_add(first as u8)).find(|pilot| {
            let step = self.steps[usize::from(*pilot)];
            for (at, hash) in hashes.iter().enumerate() {
                let slot = self.sizes.slot_of_step(*hash, step);
                if self.taken[slot as usize / 64] >> (slot % 64) & 1 == 1 {
                    return false;
                }
                match slots.get_mut(at) {
                    Some(own) => *own = slot,
                    None => return !self.meets_itself(bucket, *pilot) && self.is_free(bucket, *pilot),
                }
            }
            let slots = &slots[..hashes.len()];
            (1..slots.len()).all(|at| !slots[..at].contains(&slots[at]))
        })
    }

    fn is_free(&self, bucket: u32, pilot: u8) -> bool {
        self.slots(bucket, pilot).all(|slot| self.owners[slot] == FREE)
    }

    /// Returns the pilot that pushes out the least: the sum of squared sizes, because large buckets are hard to place.
    fn cheapest_pilot(&self, bucket: u32) -> Option<u8> {
        let cost = |pilot: u8| -> Option<usize> {
            let mut sum = 0;
            for slot in self.slots(bucket, pilot) {
                let owner = self.owners[slot];
                if owner == FREE {
                    continue;
                }
                if self.recent.contains(&owner) {
                    return None;
                }
                sum += self.buckets.len(owner).pow(2);
            }
            Some(sum)
        };
        let first = (self.pushes as u32).wrapping_mul(0x9E37_79B9) >> 24;
        let pilots = (0..=255_u8).map(|step| step.wrapping_add(first as u8));
        let priced = pilots.filter(|pilot| !self.meets_itself(bucket, *pilot));
        priced.filter_map(|pilot| Some((cost(pilot)?, pilot))).min_by_key(|(cost, _)| *cost).map(|(_, pilot)| pilot)
    }

    fn push_out(&mut self, bucket: u32, pilot: u8, waiting: &mut Vec<u32>) {
        let mut out: Vec<u32> = self.slots(bucket, pilot).map(|slot| self.owners[slot]).collect();
        out.sort_unstable();
        out.dedup();
        for owner in out.into_iter().filter(|owner| *owner != FREE) {
            let slots: Vec<usize> = self.slots(owner, self.pilots[owner as usize]).collect();
            for slot in slots {
                self.owners[slot] = FREE;
                self.taken[slot / 64] &= !(1 << (slot % 64));
            }
            waiting.push(owner);
        }
    }

    fn take(&mut self, bucket: u32, pilot: u8) {
        let step = self.steps[usize::from(pilot)];
        for hash in self.buckets.of_bucket(bucket) {
            let slot = self.sizes.slot_of_step(*hash, step) as usize;
            self.owners[slot] = bucket;
            self.taken[slot / 64] |= 1 << (slot % 64);
        }
        self.pilots[bucket as usize] = pilot;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::keys::{hash, start};

    /// Checks that keys get slots of their own with one of the seeds that the builder tries.
    fn check(count: u64, key: impl Fn(u64) -> Vec<u8>) {
        let with_seed = |seed: u64| {
            let sizes = Sizes::of(count, seed);
            let hashes: Vec<u64> = (0..count).map(|number| hash(&key(number), start(seed))).collect();
            match find(&hashes, &sizes) {
                Found::Pilots(pilots) => Some((sizes, hashes, pilots)),
                Found::Nothing => None,
            }
        };
        let (sizes, hashes, pilots) = (0..16).find_map(with_seed).unwrap_or_else(|| panic!("{count} keys: no pilots"));
        let mut used = vec![false; sizes.slots as usize];
        for hash in hashes {
            let bucket = sizes.bucket(hash);
            let slot = sizes.slot(hash, bucket, pilots[bucket as usize]) as usize;
            assert!(!used[slot], "{count} keys: slot {slot} twice");
            used[slot] = true;
        }
    }

    #[test]
    fn each_key_has_a_slot_of_its_own() {
        let integer = |number: u64| number.to_le_bytes().to_vec();
        (1..200).for_each(|count| check(count, integer));
        (200..9000).step_by(61).for_each(|count| check(count, integer));
        [1000, 4000, 10_000, 200_000].into_iter().for_each(|count| check(count, integer));
    }

    #[test]
    fn keys_in_patterns_have_slots_of_their_own() {
        for count in [7, 40, 300, 1700, 4000, 5000] {
            for shift in [8, 16, 32, 44] {
                check(count, |number| (number << shift).to_le_bytes().to_vec());
            }
            check(count, |number| number.reverse_bits().to_le_bytes().to_vec());
            check(count, |number| number.wrapping_neg().to_le_bytes().to_vec());
            check(count, |number| (number as f64).to_bits().to_le_bytes().to_vec());
            check(count, |number| [(number / 50).to_le_bytes(), (number % 50).to_le_bytes()].concat());
            check(count, |number| number.to_string().into_bytes());
            check(count, |number| format!("{number:020}").into_bytes());
            check(count, |number| {
                format!("https://www.example.com/items/{number}/with/a/long/end/of/32/bytes").into_bytes()
            });
            check(count, |number| [vec![b'0'; number as usize % 70], number.to_string().into_bytes()].concat());
        }
    }

    #[test]
    fn equal_hashes_and_too_many_keys() {
        let sizes = Sizes::of(10, 0);
        assert_eq!(find(&[7, 7, 1], &sizes), Found::Nothing);
        assert_eq!(find(&(0..100).collect::<Vec<_>>(), &sizes), Found::Nothing);
        assert_eq!(find(&[], &Sizes::of(1, 0)), Found::Pilots(vec![0]));
    }
}
