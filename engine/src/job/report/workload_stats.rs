//! Statistics of the workload that no stopwatch shows: the largest group, the largest record, and the cost of groups by
//! size.
//!
//! ```text
//!   a batch of groups   | a b c d |      counts at its mean size
//!   one group in two    | e e e e e > e f g |      counts at its size so far, including the reducer's work at its end
//! ```
//!
//! A clock is read once a batch, and one number compared a group; a record costs nothing.

use super::{GroupSize, GroupUse, LargeRecord};
use crate::operator::Groups;

/// Size classes, in powers of two; the last one has no upper bound.
const SIZES: usize = 40;

/// Sizes and cost of the groups of one reduce task, or of all.
#[derive(Clone, Debug)]
pub struct GroupMeter {
    /// Records and nanoseconds by size class.
    sizes: [(u64, u64); SIZES],
    /// Records so far of the last group, if it continues in the next batch.
    going_on: u64,
    last: usize,
}

impl Default for GroupMeter {
    fn default() -> Self {
        GroupMeter { sizes: [(0, 0); SIZES], going_on: 0, last: 0 }
    }
}

impl GroupMeter {
    /// Adds a batch that was reduced in `ns` nanoseconds.
    pub fn note(&mut self, groups: &Groups<'_>, ns: u64) {
        let n = groups.len();
        if n == 0 {
            return;
        }
        let (first, last) = (groups.range(0), groups.range(n - 1));
        let records = (last.end - first.start) as u64;
        let begun = if groups.continues() { self.going_on + first.len() as u64 } else { 0 };
        let size = begun.max(records / n as u64).max(1);
        self.going_on = match (groups.goes_on(), n) {
            (false, _) => 0,
            (true, 1) => begun.max(records),
            (true, _) => last.len() as u64,
        };
        self.last = (size.ilog2() as usize).min(SIZES - 1);
        self.sizes[self.last].0 += records;
        self.sizes[self.last].1 += ns;
    }

    /// Adds the time of the reducer's flush after its last batch.
    pub fn note_flush(&mut self, ns: u64) {
        self.sizes[self.last].1 += ns;
    }
}

/// Statistics of a job so far.
#[derive(Debug, Default)]
pub struct WorkloadStats {
    sizes: GroupMeter,
    groups: GroupUse,
    pub largest_record: Option<LargeRecord>,
}

impl WorkloadStats {
    /// Adds a finished reduce task. `largest`: records of its largest group. `key`: printable key of that group.
    pub fn add_groups(
        &mut self,
        meter: &GroupMeter,
        largest: u64,
        partition: u32,
        key: impl FnOnce() -> Option<String>,
    ) {
        for (to, from) in self.sizes.sizes.iter_mut().zip(meter.sizes) {
            to.0 += from.0;
            to.1 += from.1;
        }
        if largest > self.groups.largest_records {
            self.groups = GroupUse {
                largest_records: largest,
                largest_partition: partition,
                largest_key: key(),
                sizes: Vec::new(),
            };
        }
    }

    /// Adds a large record; the largest is kept.
    pub fn add_record(&mut self, record: LargeRecord) {
        if self.largest_record.as_ref().is_none_or(|largest| record.bytes_least > largest.bytes_least) {
            self.largest_record = Some(record);
        }
    }

    /// Returns the groups of the job; `None` without a reducer.
    pub fn groups(&self) -> Option<GroupUse> {
        let sizes = self.sizes.sizes.iter().enumerate().filter(|(_, (records, _))| *records > 0);
        let sizes: Vec<GroupSize> = sizes
            .map(|(i, &(records, ns))| GroupSize { records_least: 1 << i, records, busy_ms: ns as f64 / 1e6 })
            .collect();
        (!sizes.is_empty()).then(|| GroupUse { sizes, ..self.groups.clone() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bytes::{KeyOrder, Record};
    use crate::collect::Grouper;
    use crate::operator::Type;

    #[test]
    fn group_over_many_batches_counts_at_its_size() {
        let mut grouper = Grouper::new(KeyOrder::BYTES, Type::Bytes);
        let mut meter = GroupMeter::default();
        // 100 groups of one record, one of 5000, one of one record.
        for i in 0..5101u32 {
            let key = if i < 100 || i == 5100 { i.to_be_bytes() } else { 100u32.to_be_bytes() };
            let bytes = [&key[..], b"value"].concat();
            let record = Record { bytes: &bytes, key_len: 4, split: 0 };
            grouper.push(record, |g| Ok(meter.note(g, 1000))).unwrap();
        }
        grouper.finish(|g| Ok(meter.note(g, 1000))).unwrap();
        meter.note_flush(7000);
        assert_eq!((grouper.groups, grouper.largest_records()), (102, 5000));
        assert_eq!(grouper.largest_key(), 100u32.to_be_bytes());

        let mut stats = WorkloadStats::default();
        assert_eq!(stats.groups(), None);
        stats.add_groups(&meter, grouper.largest_records(), 3, || Some("key".into()));
        stats.add_groups(&GroupMeter::default(), 4999, 4, || None);
        let groups = stats.groups().unwrap();
        assert_eq!((groups.largest_records, groups.largest_partition), (5000, 3));
        assert_eq!(groups.largest_key.as_deref(), Some("key"));
        assert_eq!(groups.sizes.iter().map(|s| s.records).sum::<u64>(), 5101);
        // Work at the end of the large group counts at its size.
        let largest = groups.sizes.last().unwrap();
        assert_eq!(largest.records_least, 4096);
        assert!(largest.busy_ms >= 0.008 && groups.sizes[0].records_least == 1, "{groups:?}");
    }

    #[test]
    fn keeps_the_largest_record() {
        let mut stats = WorkloadStats::default();
        for bytes_least in [10, 30, 20] {
            stats.add_record(LargeRecord { bytes_least, ..LargeRecord::default() });
        }
        assert_eq!(stats.largest_record.unwrap().bytes_least, 30);
    }
}
