//! The partition of a record: Hadoop's hash, ranges from a sample, or a user's class.

use super::entries::Entry;
use super::splitters::Splitters;
use crate::bytes::KeyOrder;
use crate::memory::buffer::SLACK_BYTES;
use crate::operator::batch::{Batch, Slices};
use crate::operator::cursor::HEADER_BYTES;
use crate::operator::{Partitioner, Type};
use yunti_base::{Code, Error, Result};

/// The partitioner of one task; equal keys always get equal partitions.
pub enum Partition {
    /// A single partition.
    One,
    /// Hadoop's HashPartitioner over the hash codes of Text, BytesWritable and number keys.
    Hash { parts: u32, key_type: Type },
    /// Key ranges: bounds are the smallest normalised key of each partition but the first, ascending. There are fewer
    /// than `parts` - 1 bounds if keys are few.
    Ranges {
        bounds: std::sync::Arc<Vec<Vec<u8>>>,
        /// Prefixes of `bounds`; `splitters` are None if prefixes do not distinguish all bounds.
        prefixes: Vec<u64>,
        splitters: Option<Box<Splitters>>,
        order: KeyOrder,
        parts: u32,
    },
    /// A partitioner class.
    Class { parts: u32, class: Box<dyn Partitioner>, name: String, chosen: Vec<u32> },
    /// Partitions that the caller of `Collector::put` supplies: one for each record, in order.
    Given { parts: u32, chosen: Vec<u32> },
}

/// Returns the hash code of Hadoop's Text and BytesWritable (`WritableComparator.hashBytes`).
pub fn hash_bytes(key: &[u8]) -> i32 {
    // Eight bytes per step: h * 31^8 + b0 * 31^7 + .. + b7, which is the same sum.
    const POWERS: [i32; 9] = {
        let mut p = [1i32; 9];
        let mut i = 1;
        while i < 9 {
            p[i] = p[i - 1].wrapping_mul(31);
            i += 1;
        }
        p
    };
    let mut hash = 1i32;
    let chunks = key.chunks_exact(8);
    let rest = chunks.remainder();
    for c in chunks {
        hash = hash.wrapping_mul(POWERS[8]);
        for (i, &b) in c.iter().enumerate() {
            hash = hash.wrapping_add(i32::from(b as i8).wrapping_mul(POWERS[7 - i]));
        }
    }
    for &b in rest {
        hash = hash.wrapping_mul(31).wrapping_add(i32::from(b as i8));
    }
    hash
}

/// Returns the hash code of Hadoop's Writable of this type. Numbers are little-endian.
pub fn hadoop_hash(key: &[u8], key_type: Type) -> i32 {
    let four = |k: &[u8]| i32::from_le_bytes([k[0], k[1], k[2], k[3]]);
    let eight = |k: &[u8]| i64::from_le_bytes([k[0], k[1], k[2], k[3], k[4], k[5], k[6], k[7]]);
    match key_type {
        Type::I32 | Type::U32 | Type::F32 if key.len() == 4 => four(key),
        // LongWritable and DoubleWritable: the low 32 bits.
        Type::I64 | Type::U64 | Type::F64 if key.len() == 8 => eight(key) as i32,
        _ => hash_bytes(key),
    }
}

impl Partition {
    /// Returns the number of partitions.
    pub fn parts(&self) -> u32 {
        match self {
            Partition::One => 1,
            Partition::Hash { parts, .. }
            | Partition::Class { parts, .. }
            | Partition::Ranges { parts, .. }
            | Partition::Given { parts, .. } => *parts,
        }
    }

    /// Chooses partitions for a block of records in form COPY, before its keys are normalised. Only classes have work
    /// here.
    ///
    /// Fails with `Code::UserCode` if the class fails or chooses a partition that does not exist.
    pub fn choose(&mut self, block: &[u8], records: impl Iterator<Item = (usize, usize, usize)>) -> Result<()> {
        if !matches!(self, Partition::Class { .. }) {
            return Ok(());
        }
        let (mut koff, mut klen, mut voff, mut vlen) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for (at, k, v) in records {
            koff.push((at + HEADER_BYTES) as u32);
            klen.push(k as u32);
            voff.push((at + HEADER_BYTES + k) as u32);
            vlen.push(v as u32);
        }
        self.choose_by_class(block, &koff, &klen, &voff, &vlen)
    }

    /// `choose` for one record that is not in a block.
    pub fn choose_one(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        if !matches!(self, Partition::Class { .. }) {
            return Ok(());
        }
        let mut record = Vec::with_capacity(key.len() + value.len() + SLACK_BYTES);
        record.extend_from_slice(key);
        record.extend_from_slice(value);
        self.choose_by_class(&record, &[0], &[key.len() as u32], &[key.len() as u32], &[value.len() as u32])
    }

    fn choose_by_class(&mut self, data: &[u8], koff: &[u32], klen: &[u32], voff: &[u32], vlen: &[u32]) -> Result<()> {
        let Partition::Class { parts, class, name, chosen } = self else { return Ok(()) };
        chosen.clear();
        chosen.resize(koff.len(), u32::MAX);
        let keys = Slices { offsets: koff, lengths: klen };
        let values = Slices { offsets: voff, lengths: vlen };
        class.partition(&Batch::records(data, Some(keys), values), *parts, chosen)?;
        match chosen.iter().find(|&&p| p >= *parts) {
            None => Ok(()),
            Some(wrong) => {
                Err(Error::new(Code::UserCode, format!("the partitioner {name} chose partition {wrong} of {parts}"))
                    .hint(format!("it must be 0 to {}", *parts - 1)))
            }
        }
    }

    /// Returns the partition of record `i` of the block given to `choose` last.
    ///
    /// `raw` is the key before normalisation, `normal` after it; `prefix` is the prefix of `normal`.
    #[inline]
    pub fn of(&self, i: usize, raw: &[u8], normal: &[u8], prefix: u64) -> u32 {
        match self {
            Partition::One => 0,
            Partition::Hash { parts, key_type } => (hadoop_hash(raw, *key_type) & i32::MAX) as u32 % parts,
            Partition::Ranges { bounds, prefixes, splitters: Some(splitters), order, .. } => {
                let part = splitters.bucket(Entry { prefix, tag: 0 });
                // Equal prefixes decide nothing.
                let before = part > 0
                    && prefixes[part - 1] == prefix
                    && order.compare(&bounds[part - 1], normal) == std::cmp::Ordering::Greater;
                (part - usize::from(before)) as u32
            }
            Partition::Ranges { bounds, prefixes, order, .. } => {
                let below = prefixes.partition_point(|&b| b < prefix);
                let unsure = prefixes[below..].iter().take_while(|&&b| b == prefix).count();
                let more = bounds[below..below + unsure]
                    .partition_point(|b| order.compare(b, normal) != std::cmp::Ordering::Greater);
                (below + more) as u32
            }
            Partition::Class { chosen, .. } | Partition::Given { chosen, .. } => chosen[i],
        }
    }

    /// Returns a partitioner whose choices the caller supplies with `give`.
    pub fn given(parts: u32) -> Partition {
        if parts == 1 { Partition::One } else { Partition::Given { parts, chosen: Vec::new() } }
    }

    /// Sets the partitions of the records that follow. Fails with `Code::Internal` if one does not exist.
    pub fn give(&mut self, given: &[u32]) -> Result<()> {
        let Partition::Given { parts, chosen } = self else { return Ok(()) };
        if let Some(wrong) = given.iter().find(|&&p| p >= *parts) {
            return Err(Error::new(Code::Internal, format!("a record was given to partition {wrong} of {parts}")));
        }
        chosen.clear();
        chosen.extend_from_slice(given);
        Ok(())
    }

    /// Drops the choices of the first `records` records: the next one becomes record 0.
    pub fn pass(&mut self, records: usize) {
        if let Some(chosen) = self.chosen_mut() {
            chosen.drain(..records);
        }
    }

    /// Returns the choices for the records that follow. None: `of` finds the partition from the key alone.
    pub fn chosen(&self) -> Option<&[u32]> {
        match self {
            Partition::Class { chosen, .. } | Partition::Given { chosen, .. } => Some(chosen),
            _ => None,
        }
    }

    /// Replaces the choices, if there are any.
    pub fn set_chosen(&mut self, partitions: impl Iterator<Item = u32>) {
        if let Some(chosen) = self.chosen_mut() {
            chosen.clear();
            chosen.extend(partitions);
        }
    }

    fn chosen_mut(&mut self) -> Option<&mut Vec<u32>> {
        match self {
            Partition::Class { chosen, .. } | Partition::Given { chosen, .. } => Some(chosen),
            _ => None,
        }
    }

    /// Returns a partitioner by key ranges; `bounds` are the smallest normalised key of each partition but the first.
    pub fn ranges(bounds: std::sync::Arc<Vec<Vec<u8>>>, order: KeyOrder, parts: u32) -> Partition {
        let prefixes: Vec<u64> = bounds.iter().map(|b| order.prefix(b, 0)).collect();
        let apart = prefixes.first().is_some_and(|&p| p > 0) && prefixes.windows(2).all(|w| w[0] < w[1]);
        let splitters = apart.then(|| Box::new(Splitters::at(&prefixes)));
        Partition::Ranges { bounds, prefixes, splitters, order, parts }
    }

    /// Returns true if `of` needs the key before normalisation.
    pub fn wants_raw(&self) -> bool {
        matches!(self, Partition::Hash { .. })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_agree_with_comparisons() {
        let sets: [&[&str]; 4] =
            [&["b", "bbbbbbbbb", "bbbbbbbbbc", "m"], &["a", "abcdefgh", "abcdefgi", "zz"], &["", "a"], &["m"]];
        for bounds in sets {
            let bounds: Vec<Vec<u8>> = bounds.iter().map(|b| b.as_bytes().to_vec()).collect();
            let parts = bounds.len() as u32 + 1;
            for descending in [false, true] {
                let order = KeyOrder { descending, ..KeyOrder::BYTES };
                let mut bounds = bounds.clone();
                bounds.sort_by(|a, b| order.compare(a, b));
                let partition = Partition::ranges(std::sync::Arc::new(bounds.clone()), order, parts);
                for key in [
                    "",
                    "a",
                    "aa",
                    "abcdefgh",
                    "abcdefgha",
                    "abcdefgi",
                    "b",
                    "bbbbbbbbb",
                    "bbbbbbbbbd",
                    "m",
                    "zz",
                    "zzz",
                ] {
                    let key = key.as_bytes();
                    let expect = bounds.iter().filter(|b| order.compare(b, key) != std::cmp::Ordering::Greater).count();
                    assert_eq!(partition.of(0, key, key, order.prefix(key, 0)), expect as u32, "{key:?} {bounds:?}");
                }
            }
        }
    }

    #[test]
    fn hashes_are_hadoops() {
        // new Text(..).hashCode() of Hadoop 3.4.2.
        let slow = |k: &[u8]| k.iter().fold(1i32, |h, &b| h.wrapping_mul(31).wrapping_add(i32::from(b as i8)));
        assert_eq!(hash_bytes(b""), 1);
        assert_eq!(hash_bytes(b"a"), 31 + 97);
        for n in 0..40 {
            let key: Vec<u8> = (0..n).map(|i| (i * 37 + 200) as u8).collect();
            assert_eq!(hash_bytes(&key), slow(&key), "{n}");
        }
        assert_eq!(hadoop_hash(&(-5i64).to_le_bytes(), Type::I64), -5);
    }
}
