//! Groups of sorted records, in batches, for reducers and combiners.

use crate::bytes::{KeyOrder, OrderedRecord, Record};
use crate::memory::buffer::SLACK_BYTES;
use crate::operator::Type;
use crate::operator::batch::Slices;
use crate::operator::groups::{GROUP_CONT, GROUP_MORE, Groups, Values};
use yunti_base::Result;

/// Bytes of a batch, at which it is handed over; it fits in L2.
const BATCH_BYTES: usize = if cfg!(debug_assertions) { 512 } else { 64 << 10 };
/// Values of a batch, at which it is handed over.
const BATCH_VALUES: usize = if cfg!(debug_assertions) { 32 } else { 8192 };
/// Bytes kept of the largest group's key.
const LARGEST_KEY_BYTES: usize = 40;

/// Collects sorted records into groups.
///
/// Call order: `push` for each record in order, then `finish`. Both pass full batches to `reduce`.
pub struct Grouper {
    order: KeyOrder,
    eight: bool,
    data: Vec<u8>,
    koff: Vec<u32>,
    klen: Vec<u32>,
    first: Vec<u32>,
    voff: Vec<u32>,
    vlen: Vec<u32>,
    v8: Vec<u64>,
    /// Key of each value, for records with ordered keys.
    vkoff: Vec<u32>,
    vklen: Vec<u32>,
    /// Normalised key of the last group, or its group bytes; the next record is compared with it.
    key: Vec<u8>,
    /// The first key of the last group, for records with ordered keys.
    first_key: Vec<u8>,
    /// True while the last group may go on.
    open: bool,
    /// True if the first group of the batch began in the batch before.
    continues: bool,
    /// Number of groups so far.
    pub groups: u64,
    /// Records handed over, and records before the last group.
    given: u64,
    group_from: u64,
    largest_records: u64,
    largest_key: Vec<u8>,
}

impl Grouper {
    /// `order` is the order of the normalised keys; values have the type `value_type`.
    pub fn new(order: KeyOrder, value_type: Type) -> Grouper {
        Grouper {
            order,
            eight: value_type.fixed_bytes() == Some(8),
            data: Vec::with_capacity(BATCH_BYTES + SLACK_BYTES),
            koff: Vec::new(),
            klen: Vec::new(),
            first: Vec::new(),
            voff: Vec::new(),
            vlen: Vec::new(),
            v8: Vec::new(),
            vkoff: Vec::new(),
            vklen: Vec::new(),
            key: Vec::new(),
            first_key: Vec::new(),
            open: false,
            continues: false,
            groups: 0,
            given: 0,
            group_from: 0,
            largest_records: 0,
            largest_key: Vec::new(),
        }
    }

    #[inline]
    /// Adds the next record in order; passes a full batch to `reduce`.
    pub fn push(&mut self, record: Record<'_>, reduce: impl FnMut(&Groups<'_>) -> Result<()>) -> Result<()> {
        let (key, value) = (record.key(), record.value());
        let same = self.begin(key, record.bytes.len(), reduce)?;
        if !same || self.koff.is_empty() {
            let at = self.begin_group(key, same);
            self.order.denormalise(&mut self.data[at..]);
        }
        self.add(value);
        Ok(())
    }

    /// `push` for records with ordered keys (`OrderedRecord`).
    #[inline]
    pub fn push_ordered(&mut self, record: &Record<'_>, reduce: impl FnMut(&Groups<'_>) -> Result<()>) -> Result<()> {
        let OrderedRecord { group, key, value } = OrderedRecord::of(record)?;
        let same = self.begin(group, 2 * key.len() + value.len(), reduce)?;
        if !same {
            self.first_key.clear();
            self.first_key.extend_from_slice(key);
        }
        if !same || self.koff.is_empty() {
            let first_key = std::mem::take(&mut self.first_key);
            self.begin_group(&first_key, same);
            self.first_key = first_key;
        }
        self.add_key(key);
        self.add(value);
        Ok(())
    }

    /// Makes room for a record; returns true if it belongs to the last group.
    #[inline(always)]
    fn begin(&mut self, group: &[u8], bytes: usize, mut reduce: impl FnMut(&Groups<'_>) -> Result<()>) -> Result<bool> {
        let same = self.open && self.key == group;
        let values = self.v8.len() + self.voff.len();
        if self.data.len() + bytes > BATCH_BYTES || values >= BATCH_VALUES {
            self.deliver(same, &mut reduce)?;
        }
        if !same {
            self.end_group();
            self.groups += 1;
            self.key.clear();
            self.key.extend_from_slice(group);
            self.open = true;
        }
        Ok(same)
    }

    /// Updates the largest group.
    #[inline]
    fn end_group(&mut self) {
        let end = self.given + (self.v8.len() + self.voff.len()) as u64;
        let records = end - self.group_from;
        self.group_from = end;
        if records > self.largest_records {
            self.largest_records = records;
            self.largest_key.clear();
            self.largest_key.extend_from_slice(&self.key[..self.key.len().min(LARGEST_KEY_BYTES)]);
        }
    }

    /// Returns the number of records of the largest group that has ended.
    pub fn largest_records(&self) -> u64 {
        self.largest_records
    }

    /// Returns the first 40 bytes of the largest group's normalised key.
    pub fn largest_key(&self) -> &[u8] {
        &self.largest_key
    }

    /// Begins a group, or the rest of one whose beginning was handed over. Returns the offset of its key.
    #[inline(always)]
    fn begin_group(&mut self, key: &[u8], same: bool) -> usize {
        self.continues |= same && self.koff.is_empty();
        let at = self.data.len();
        self.koff.push(at as u32);
        self.klen.push(key.len() as u32);
        self.first.push((self.v8.len() + self.voff.len()) as u32);
        self.data.extend_from_slice(key);
        at
    }

    /// Adds the key of the next value; a repeated key is stored once.
    fn add_key(&mut self, key: &[u8]) {
        let before = [(&self.vkoff, &self.vklen), (&self.koff, &self.klen)];
        let before = before.map(|(offsets, lengths)| offsets.last().copied().zip(lengths.last().copied()));
        let is_key = |&(offset, len): &(u32, u32)| &self.data[offset as usize..][..len as usize] == key;
        let (offset, len) = match before.into_iter().flatten().find(is_key) {
            Some(known) => known,
            None => {
                let at = self.data.len() as u32;
                self.data.extend_from_slice(key);
                (at, key.len() as u32)
            }
        };
        self.vkoff.push(offset);
        self.vklen.push(len);
    }

    #[inline(always)]
    fn add(&mut self, value: &[u8]) {
        if self.eight {
            // The collector checked the length.
            self.v8.push(value.try_into().map_or(0, u64::from_le_bytes));
        } else {
            self.voff.push(self.data.len() as u32);
            self.vlen.push(value.len() as u32);
            self.data.extend_from_slice(value);
        }
    }

    /// Passes the last batch to `reduce`.
    pub fn finish(&mut self, mut reduce: impl FnMut(&Groups<'_>) -> Result<()>) -> Result<()> {
        self.end_group();
        self.deliver(false, &mut reduce)?;
        self.open = false;
        Ok(())
    }

    fn deliver(&mut self, goes_on: bool, reduce: &mut impl FnMut(&Groups<'_>) -> Result<()>) -> Result<()> {
        if !self.koff.is_empty() {
            self.first.push((self.v8.len() + self.voff.len()) as u32);
            // The ABI promises readable slack behind the data.
            self.data.reserve(SLACK_BYTES);
            let values = if self.eight {
                Values::Eight(&self.v8)
            } else {
                Values::Slices { offsets: &self.voff, lengths: &self.vlen }
            };
            let flags = if goes_on { GROUP_MORE } else { 0 } | if self.continues { GROUP_CONT } else { 0 };
            let groups = Groups::new(&self.data, &self.koff, &self.klen, &self.first, values, flags);
            if self.vkoff.is_empty() {
                reduce(&groups)?;
            } else {
                reduce(&groups.with_value_keys(Slices { offsets: &self.vkoff, lengths: &self.vklen }))?;
            }
        }
        self.continues = false;
        self.given += (self.v8.len() + self.voff.len()) as u64;
        self.data.clear();
        self.data.shrink_to(BATCH_BYTES * 4 + SLACK_BYTES);
        let Grouper { koff, klen, first, voff, vlen, vkoff, vklen, .. } = self;
        for column in [koff, klen, first, voff, vlen, vkoff, vklen] {
            column.clear();
        }
        self.v8.clear();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_groups_whole_across_batches() {
        let mut records: Vec<(Vec<u8>, Vec<u8>)> = Vec::new();
        for (key, values) in [("", 1), ("a", 200), ("ab", 1), ("b", 3), ("c", 100)] {
            for v in 0..values {
                records.push((key.as_bytes().to_vec(), format!("{v}").into_bytes()));
            }
        }
        let mut grouper = Grouper::new(KeyOrder::BYTES, Type::Bytes);
        let mut seen: Vec<(Vec<u8>, Vec<Vec<u8>>)> = Vec::new();
        let mut more = false;
        let mut take = |g: &Groups<'_>| {
            assert_eq!(g.continues(), more);
            for i in 0..g.len() {
                let values = g.range(i).map(|v| g.value(v).to_vec());
                if i == 0 && g.continues() {
                    let last = seen.last_mut().unwrap();
                    assert_eq!(last.0, g.key(0));
                    last.1.extend(values);
                } else {
                    seen.push((g.key(i).to_vec(), values.collect()));
                }
            }
            more = g.goes_on();
            Ok(())
        };
        for (k, v) in &records {
            let bytes = [&k[..], &v[..]].concat();
            grouper.push(Record { bytes: &bytes, key_len: k.len() as u32, split: 0 }, &mut take).unwrap();
        }
        grouper.finish(&mut take).unwrap();
        let flat: Vec<_> = seen.iter().flat_map(|(k, vs)| vs.iter().map(move |v| (k.clone(), v.clone()))).collect();
        assert_eq!(flat, records);
        assert_eq!((seen.len(), grouper.groups), (5, 5));
    }
}
