//! Makes bundles of a stretch of records, where keys repeat.
//!
//! A hash table finds the records of each key; they are chained in the order of emission. Where keys hardly repeat, a
//! look at the first records says so, and the next stretches are left alone: 1, 2, 4 .. up to `PAUSE_MAX` of them.
//!
//! A table with few free slots around a hash gives up after `PROBES_MAX` probes: the record stays alone. So keys made
//! to collide cost no more than that.

use super::bundle::{BUNDLE, COUNTS_BYTES, DIFFER};
use crate::operator::cursor::{HEADER_BYTES, copied};

/// Records after which a first look decides.
const FIRST_LOOK: usize = 4096;
/// Keys among these records, at most.
const FIRST_KEYS_MAX: usize = FIRST_LOOK / 4 * 3;
/// Bytes of a record, at most, on average: larger ones cost more to copy than to sort.
const RECORD_BYTES_MAX: usize = 256;
/// Stretches between two tries, at most.
const PAUSE_MAX: u32 = 64;
const PROBES_MAX: u32 = 16;

/// The records of one key and partition.
struct Group {
    hash: u32,
    partition: u32,
    key_at: u32,
    key_len: u32,
    /// First and last eight bytes of the key; of a shorter one, its bytes.
    words: (u64, u64),
    first: u32,
    last: u32,
    count: u32,
    value_bytes: u32,
    /// Length of each value, or `DIFFER`.
    length: u32,
    /// Bytes of the records as they are.
    plain_bytes: u32,
}

impl Group {
    /// Returns the bytes of the bundle, without padding.
    fn bundle_bytes(&self) -> usize {
        let lengths = if self.length == DIFFER { 4 * self.count as usize } else { 0 };
        HEADER_BYTES + self.key_len as usize + COUNTS_BYTES + lengths + self.value_bytes as usize
    }

    /// Returns true if a bundle takes less room than the records.
    fn is_worth_it(&self) -> bool {
        self.count > 1 && self.bundle_bytes().next_multiple_of(8) <= self.plain_bytes as usize
    }

    fn bytes(&self) -> usize {
        if self.is_worth_it() { self.bundle_bytes().next_multiple_of(8) } else { self.plain_bytes as usize }
    }
}

/// Groups of one stretch after the other.
#[derive(Default)]
pub struct Bundler {
    /// Number of a group, counted from 1, in the slot of its hash; 0: free.
    slots: Vec<u32>,
    groups: Vec<Group>,
    /// Offset of each record, and the number of the next one with the same key.
    records: Vec<(u32, u32)>,
    /// Stretches to leave alone, and their number after the next try without a gain.
    left: u32,
    pause: u32,
}

impl Bundler {
    /// Returns true if the next stretch should be tried. Counts a stretch that is left alone.
    pub fn wants_next(&mut self) -> bool {
        if self.left == 0 {
            return true;
        }
        self.left -= 1;
        false
    }

    /// Groups the records of a stretch in form COPY. `partitions`: the partition of each, if they are chosen. Returns
    /// false if bundles would gain little, or a record does not fit the types: `fits` gets the lengths of its key and
    /// value.
    pub fn group(&mut self, bytes: &[u8], partitions: Option<&[u32]>, fits: impl Fn(usize, usize) -> bool) -> bool {
        let is_worth_it = self.find(bytes, partitions, fits);
        if is_worth_it {
            self.pause = 0;
        } else {
            self.pause = (2 * self.pause).clamp(1, PAUSE_MAX);
            self.left = self.pause;
        }
        is_worth_it
    }

    fn find(&mut self, bytes: &[u8], partitions: Option<&[u32]>, fits: impl Fn(usize, usize) -> bool) -> bool {
        let Bundler { slots, groups, records, .. } = self;
        groups.clear();
        records.clear();
        let capacity = (bytes.len() / HEADER_BYTES).next_power_of_two().max(64);
        slots.clear();
        slots.resize(capacity, 0);
        for (at, key_len, value_len) in copied(bytes) {
            let number = records.len();
            if (number == FIRST_LOOK && groups.len() > FIRST_KEYS_MAX) || !fits(key_len, value_len) {
                return false;
            }
            let key_at = at + HEADER_BYTES;
            let partition = partitions.map_or(0, |of| of[number]);
            let words = words(bytes, key_at, key_len);
            let hash = hash(words, bytes, key_at, key_len, partition);
            records.push((at as u32, u32::MAX));
            let plain_bytes = (HEADER_BYTES + key_len + value_len).next_multiple_of(8) as u32;
            let mut slot = hash as usize & (capacity - 1);
            let mut probes = 0;
            let found = loop {
                let Some(n) = slots[slot].checked_sub(1) else {
                    slots[slot] = groups.len() as u32 + 1;
                    break None;
                };
                let group = &groups[n as usize];
                if group.hash == hash
                    && (group.words, group.key_len, group.partition) == (words, key_len as u32, partition)
                    && (key_len <= 16 || group_key(bytes, group) == &bytes[key_at..key_at + key_len])
                {
                    break Some(n as usize);
                }
                probes += 1;
                if probes == PROBES_MAX {
                    break None;
                }
                slot = (slot + 1) & (capacity - 1);
            };
            match found {
                Some(n) => {
                    let group = &mut groups[n];
                    records[group.last as usize].1 = number as u32;
                    group.last = number as u32;
                    group.count += 1;
                    group.value_bytes += value_len as u32;
                    if group.length != value_len as u32 {
                        group.length = DIFFER;
                    }
                    group.plain_bytes += plain_bytes;
                }
                None => groups.push(Group {
                    hash,
                    partition,
                    key_at: key_at as u32,
                    key_len: key_len as u32,
                    words,
                    first: number as u32,
                    last: number as u32,
                    count: 1,
                    value_bytes: value_len as u32,
                    length: value_len as u32,
                    plain_bytes,
                }),
            }
        }
        2 * groups.len() <= records.len() && bytes.len() <= records.len() * RECORD_BYTES_MAX
    }

    /// Returns the number of groups of the last stretch.
    pub fn groups(&self) -> usize {
        self.groups.len()
    }

    /// Returns the bytes of a group as `write` writes it.
    pub fn bytes(&self, group: usize) -> usize {
        self.groups[group].bytes()
    }

    /// Returns the partitions of what `write` writes, one for each bundle and record that stays alone.
    pub fn partitions(&self) -> impl Iterator<Item = u32> {
        let times = |group: &Group| if group.is_worth_it() { 1 } else { group.count as usize };
        self.groups.iter().flat_map(move |group| std::iter::repeat_n(group.partition, times(group)))
    }

    /// Writes the groups of the stretch `bytes` from `group` on, as many as `to` has room for. Returns the number of
    /// the next group, and the bytes written.
    pub fn write(&self, bytes: &[u8], mut group: usize, to: &mut [u8]) -> (usize, usize) {
        let mut at = 0;
        while let Some(own) = self.groups.get(group) {
            let len = own.bytes();
            if len > to.len() - at {
                break;
            }
            let room = &mut to[at..at + len];
            match own.is_worth_it() {
                true => self.write_bundle(bytes, own, room),
                false => self.write_plain(bytes, own, room),
            }
            at += len;
            group += 1;
        }
        (group, at)
    }

    /// Returns the offset and the bytes of the records of a group in the stretch.
    fn records_of(&self, group: &Group) -> impl Iterator<Item = usize> {
        let mut next = group.first;
        std::iter::from_fn(move || {
            let &(at, behind) = self.records.get(next as usize)?;
            next = behind;
            Some(at as usize)
        })
    }

    fn write_plain(&self, bytes: &[u8], group: &Group, to: &mut [u8]) {
        let mut end = 0;
        for at in self.records_of(group) {
            let (key_len, value_len) = lengths(bytes, at);
            let len = (HEADER_BYTES + key_len + value_len).next_multiple_of(8);
            to[end..end + len].copy_from_slice(&bytes[at..at + len]);
            end += len;
        }
    }

    fn write_bundle(&self, bytes: &[u8], group: &Group, to: &mut [u8]) {
        let len = group.bundle_bytes();
        let key_len = group.key_len as usize;
        to[..4].copy_from_slice(&(group.key_len | BUNDLE).to_le_bytes());
        to[4..8].copy_from_slice(&((len - HEADER_BYTES - key_len) as u32).to_le_bytes());
        let (key, rest) = to[HEADER_BYTES..].split_at_mut(key_len);
        key.copy_from_slice(group_key(bytes, group));
        rest[..4].copy_from_slice(&group.count.to_le_bytes());
        rest[4..8].copy_from_slice(&group.length.to_le_bytes());
        let differ = group.length == DIFFER;
        let (lens, values) = rest[COUNTS_BYTES..].split_at_mut(if differ { 4 * group.count as usize } else { 0 });
        let mut end = 0;
        for (i, at) in self.records_of(group).enumerate() {
            let (_, len) = lengths(bytes, at);
            let value_at = at + HEADER_BYTES + key_len;
            if differ {
                lens[4 * i..4 * i + 4].copy_from_slice(&(len as u32).to_le_bytes());
            }
            match (&mut values[end..end + len], &bytes[value_at..value_at + len]) {
                // A call would cost more than the copy.
                ([to], [from]) => *to = *from,
                (to, from) => to.copy_from_slice(from),
            }
            end += len;
        }
        values[end..].fill(0);
    }
}

fn lengths(bytes: &[u8], at: usize) -> (usize, usize) {
    let n = word(bytes, at);
    (n as u32 as usize, (n >> 32) as usize)
}

fn group_key<'a>(bytes: &'a [u8], group: &Group) -> &'a [u8] {
    &bytes[group.key_at as usize..][..group.key_len as usize]
}

#[inline(always)]
fn word(bytes: &[u8], at: usize) -> u64 {
    let &[a, b, c, d, e, f, g, h] = &bytes[at..at + 8] else { return 0 };
    u64::from_le_bytes([a, b, c, d, e, f, g, h])
}

/// Returns the first and the last eight bytes of a key. The eight bytes before its end exist: the header is in front.
#[inline(always)]
fn words(bytes: &[u8], key_at: usize, key_len: usize) -> (u64, u64) {
    let last = word(bytes, key_at + key_len - 8);
    match key_len {
        0 => (0, 0),
        1..8 => (last >> (64 - 8 * key_len), 0),
        _ => (word(bytes, key_at), last),
    }
}

#[inline(always)]
fn hash(words: (u64, u64), bytes: &[u8], key_at: usize, key_len: usize, partition: u32) -> u32 {
    let mut hash = fold(words.0 ^ key_len as u64 ^ u64::from(partition) << 32, words.1);
    if key_len > 16 {
        for at in (key_at + 8..key_at + key_len - 8).step_by(8) {
            hash = fold(hash ^ word(bytes, at), hash);
        }
    }
    (hash ^ hash >> 32) as u32
}

/// Multiplies two words and folds the product.
#[inline(always)]
fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a ^ 0x9e37_79b9_7f4a_7c15) * u128::from(b ^ 0xd6e8_feb8_6659_fd93);
    product as u64 ^ (product >> 64) as u64
}

#[cfg(test)]
mod tests {
    use super::super::bundle::Bundle;
    use super::*;
    use crate::env::random::Random;

    type Records = Vec<(Vec<u8>, Vec<u8>, u32)>;

    fn stretch(records: &Records) -> Vec<u8> {
        let mut bytes = Vec::new();
        for (key, value, _) in records {
            bytes.extend_from_slice(&(key.len() as u32).to_le_bytes());
            bytes.extend_from_slice(&(value.len() as u32).to_le_bytes());
            bytes.extend_from_slice(key);
            bytes.extend_from_slice(value);
            bytes.resize(bytes.len().next_multiple_of(8), 0);
        }
        bytes
    }

    /// Writes all groups through pieces of `room` bytes and returns the records in them, by (key, partition).
    fn written(bundler: &Bundler, bytes: &[u8], room: usize) -> (Records, usize) {
        let partitions: Vec<u32> = bundler.partitions().collect();
        let (mut group, mut entries, mut total, mut found) = (0, 0, 0, Records::new());
        while group < bundler.groups() {
            let mut piece = vec![0xaa; room.max(bundler.bytes(group))];
            let (next, len) = bundler.write(bytes, group, &mut piece);
            assert!(next > group && len == (group..next).map(|g| bundler.bytes(g)).sum::<usize>());
            let mut at = 0;
            while at < len {
                let (key_len, value_len) = lengths(&piece, at);
                let partition = partitions[entries];
                if key_len & BUNDLE as usize != 0 {
                    let key_len = key_len & !(BUNDLE as usize);
                    let bundle = Bundle::of(&piece[at + 8..at + 8 + key_len + value_len], key_len);
                    assert!(bundle.count > 1);
                    let before = found.len();
                    let each = bundle.each(|value| {
                        found.push((bundle.key.to_vec(), value.to_vec(), partition));
                        Ok::<_, ()>(())
                    });
                    assert_eq!((each, found.len() - before), (Ok(()), bundle.count));
                } else {
                    let key = piece[at + 8..at + 8 + key_len].to_vec();
                    found.push((key, piece[at + 8 + key_len..at + 8 + key_len + value_len].to_vec(), partition));
                }
                entries += 1;
                at = (at + 8 + (key_len & !(BUNDLE as usize)) + value_len).next_multiple_of(8);
            }
            (group, total) = (next, total + len);
        }
        assert_eq!(entries, partitions.len());
        (found, total)
    }

    #[test]
    fn bundles_hold_the_records_of_each_key_in_order() {
        let random = &mut Random::new(1);
        for round in 0..600 {
            let (keys, longest) = (1 + random.below(40), 1 + random.below(40));
            let (parts, value_max) = (1 + random.below(3) as u32, random.below(12));
            let count = random.below(300);
            let of_key = |n: u64| -> Vec<u8> {
                let own = &mut Random::new(n);
                (0..own.below(longest)).map(|_| own.below(3) as u8).collect()
            };
            let records: Records = (0..count)
                .map(|i| {
                    let len = if value_max < 4 { value_max } else { random.below(value_max) };
                    let value = (0..len).map(|b| (i + b) as u8).collect();
                    (of_key(random.below(keys)), value, random.below(u64::from(parts)) as u32)
                })
                .collect();
            let bytes = stretch(&records);
            let partitions: Vec<u32> = records.iter().map(|r| r.2).collect();
            let mut bundler = Bundler::default();
            let partitions = (parts > 1).then_some(partitions.as_slice());
            let gain = bundler.group(&bytes, partitions, |_, _| true);
            let distinct: std::collections::HashSet<_> = records.iter().map(|r| (&r.0, r.2)).collect();
            assert_eq!(gain, 2 * distinct.len() <= records.len(), "round {round}");
            if gain {
                let (mut found, total) = written(&bundler, &bytes, random.below(2000) as usize);
                assert!(total <= bytes.len());
                let mut expect = records.clone();
                // The sort is stable: records of one key stay in the order of emission.
                expect.sort_by(|a, b| (&a.0, a.2).cmp(&(&b.0, b.2)));
                found.sort_by(|a, b| (&a.0, a.2).cmp(&(&b.0, b.2)));
                assert_eq!(found, expect, "round {round}");
            }
        }
    }

    #[test]
    fn stretches_without_repeats_are_left_alone() {
        let alone: Records = (0..5000u32).map(|i| (i.to_le_bytes().to_vec(), vec![1], 0)).collect();
        let (alone, repeated) = (stretch(&alone), stretch(&vec![(b"a".to_vec(), vec![1], 0); 100]));
        let mut bundler = Bundler::default();
        let mut tries = 0;
        for _ in 0..1000 {
            if bundler.wants_next() {
                tries += 1;
                assert!(!bundler.group(&alone, None, |_, _| true));
            }
        }
        assert!((10..30).contains(&tries), "{tries}");
        while !bundler.wants_next() {}
        assert!(bundler.group(&repeated, None, |_, _| true) && bundler.wants_next());
        assert_eq!(bundler.groups(), 1);
        assert!(!bundler.group(&repeated, None, |key, _| key == 2));
    }
}
