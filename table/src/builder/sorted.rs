//! One partition in the order of hashes, and its rows of one key.

use yunti_base::{Code, Error, Result};

use super::Duplicates;
use super::gather::Gather;
use super::partitions::Record;
use crate::format::row::number_bytes;

/// A row of a sorted partition.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    pub hash: u64,
    chunk: u32,
    offset: u32,
}

/// Rows of a partition by hash; rows of one key by their numbers.
pub struct Sorted {
    pub chunks: Vec<Vec<u8>>,
    pub entries: Vec<Entry>,
}

/// Keys and rows of a partition, and bytes of the rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    pub keys: u64,
    pub rows: u64,
    pub row_bytes: u64,
    /// The same with the length of each row before it.
    pub listed_bytes: u64,
    pub row_bytes_max: u64,
}

impl Counts {
    pub fn add(&mut self, other: Counts) {
        self.keys += other.keys;
        self.rows += other.rows;
        self.row_bytes += other.row_bytes;
        self.listed_bytes += other.listed_bytes;
        self.row_bytes_max = self.row_bytes_max.max(other.row_bytes_max);
    }
}

impl Sorted {
    /// Sorts the records of a partition.
    pub fn of(chunks: Vec<Vec<u8>>) -> Sorted {
        let mut unsorted = Vec::new();
        for (number, chunk) in chunks.iter().enumerate() {
            let mut at = 0;
            while at < chunk.len() {
                let record = Record::at(chunk, at);
                unsorted.push(Entry { hash: record.hash, chunk: number as u32, offset: at as u32 });
                at += Record::bytes_of(record.row);
            }
        }
        // First to buckets of some dozen entries by the bits behind the partition's, then each bucket alone.
        let bits = (unsorted.len() / 32).max(1).ilog2().min(20);
        let bucket = |entry: &Entry| if bits == 0 { 0 } else { (entry.hash << 8 >> (64 - bits)) as usize };
        let mut ends = vec![0_u32; (1 << bits) + 1];
        unsorted.iter().for_each(|entry| ends[bucket(entry) + 1] += 1);
        for at in 1..ends.len() {
            ends[at] += ends[at - 1];
        }
        let mut entries = vec![Entry { hash: 0, chunk: 0, offset: 0 }; unsorted.len()];
        for entry in &unsorted {
            let at = &mut ends[bucket(entry)];
            entries[*at as usize] = *entry;
            *at += 1;
        }
        drop(unsorted);
        let number = |entry: &Entry| Record::at(&chunks[entry.chunk as usize], entry.offset as usize).number;
        let mut begin = 0;
        for end in &ends[..1 << bits] {
            entries[begin..*end as usize]
                .sort_unstable_by(|a, b| a.hash.cmp(&b.hash).then_with(|| number(a).cmp(&number(b))));
            begin = *end as usize;
        }
        Sorted { chunks, entries }
    }

    #[inline]
    pub fn record(&self, entry: &Entry) -> Record<'_> {
        Record::at(&self.chunks[entry.chunk as usize], entry.offset as usize)
    }

    /// Leaves the rows that stay if a key has several. Returns `None` if two keys have one hash.
    pub fn without_duplicates(&mut self, gather: &Gather, duplicates: Duplicates) -> Result<Option<Counts>> {
        let mut counts = Counts::default();
        let mut kept = 0_usize;
        for at in 0..self.entries.len() {
            let entry = self.entries[at];
            let before = kept.checked_sub(1).map(|before| self.entries[before]);
            let is_same = before.is_some_and(|before| before.hash == entry.hash);
            if let Some(before) = before.filter(|_| is_same) {
                let (one, other) = (self.record(&before), self.record(&entry));
                if !gather.key_values(one.row).eq(gather.key_values(other.row)) {
                    return Ok(None);
                }
                match duplicates {
                    Duplicates::Refuse => {
                        let what = format!("rows {} and {} have the same key", one.number, other.number);
                        let hint = "keep one: --duplicates first, or last; or all: --duplicates list";
                        return Err(Error::new(Code::Input, what).hint(hint));
                    }
                    Duplicates::KeepFirst => continue,
                    Duplicates::KeepLast => {
                        self.entries[kept - 1] = entry;
                        continue;
                    }
                    Duplicates::List => {}
                }
            }
            counts.keys += u64::from(!is_same);
            self.entries[kept] = entry;
            kept += 1;
        }
        self.entries.truncate(kept);
        counts.rows = kept as u64;
        for entry in &self.entries {
            let bytes = self.record(entry).row.len() as u64;
            counts.row_bytes += bytes;
            counts.listed_bytes += bytes + number_bytes(bytes);
            counts.row_bytes_max = counts.row_bytes_max.max(bytes);
        }
        Ok(Some(counts))
    }
}
