//! Progress of the reduce for the journal: the keys of each partition whose records are in its part file.
//!
//! Workers reduce key ranges of a partition side by side, and write them in any order. The journal gets the ranges up
//! to the first that is not written whole:
//!
//! ```text
//!   range     0        1        2        3
//!   part   |written |written |        |written |
//!                            ^ reduced up to the last key of range 1
//! ```

use std::collections::BTreeMap;

use super::super::running_job::RunningJob;
use crate::env::sync::{Mutex, MutexGuard};
use crate::job::journal::frame::{Frame, rows_of};
use crate::job::journal::{Journal, Kept};
use crate::operator::context::{CounterTable, add_counters};
use crate::run::KeyRange;
use crate::write::{Output, PartFile};
use yunti_base::Result;

/// Progress of all partitions.
pub struct ReducedRanges<'m, 'r> {
    running: &'m RunningJob<'r>,
    journal: &'m Journal,
    parts: &'m [PartFile],
    partitions: Mutex<BTreeMap<u32, Partition>>,
}

/// Progress of one partition since its last frame.
#[derive(Default)]
struct Partition {
    /// Reduced ranges, by ticket.
    ranges: BTreeMap<usize, ReducedRange>,
    /// Ranges written whole, joined, and the bytes of the file with them.
    written: Option<(ReducedRange, u64)>,
}

struct ReducedRange {
    hi: u64,
    records: u64,
    counters: CounterTable,
}

impl<'m, 'r> ReducedRanges<'m, 'r> {
    /// Returns the progress of a reduce that begins; None without a journal.
    pub fn new(running: &'m RunningJob<'r>, output: &'m Output) -> Option<Self> {
        match (&running.journal, output) {
            (Some(journal), Output::Parts(parts)) => {
                Some(ReducedRanges { running, journal, parts, partitions: Mutex::default() })
            }
            _ => None,
        }
    }

    fn partitions(&self) -> MutexGuard<'_, BTreeMap<u32, Partition>> {
        self.partitions.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// Notes a range that `worker` has reduced. `records`: records of its output.
    pub fn note(&self, worker: usize, range: KeyRange, ticket: usize, records: u64) -> Result<()> {
        let counters = self.running.settle(Some(worker));
        let mut partitions = self.partitions();
        let partition = partitions.entry(range.partition).or_default();
        partition.ranges.insert(ticket, ReducedRange { hi: range.hi, records, counters });
        partition.join(&self.parts[range.partition as usize]);
        if self.journal.is_due(self.running.env.clock.now_ns()) { self.save(&mut partitions) } else { Ok(()) }
    }

    /// Saves the progress at the end.
    pub fn finish(&self) -> Result<()> {
        let mut partitions = self.partitions();
        for (number, partition) in partitions.iter_mut() {
            partition.join(&self.parts[*number as usize]);
        }
        self.save(&mut partitions)
    }

    fn save(&self, partitions: &mut BTreeMap<u32, Partition>) -> Result<()> {
        for (&partition, own) in partitions.iter_mut() {
            let Some((ReducedRange { hi, records, counters }, bytes)) = own.written.take() else { continue };
            if self.journal.is_durable() {
                self.parts[partition as usize].sync()?;
            }
            self.journal.append(&Frame::Reduced { partition, hi, bytes, records, counters: rows_of(&counters) })?;
        }
        partitions.retain(|_, own| !own.ranges.is_empty());
        Ok(())
    }
}

impl Partition {
    /// Joins the ranges that the file has whole.
    fn join(&mut self, file: &PartFile) {
        while let Some(first) = self.ranges.first_entry()
            && let Some(bytes) = file.written_to(*first.key())
        {
            let ReducedRange { hi, records, counters } = first.remove();
            let empty = || ReducedRange { hi, records: 0, counters: CounterTable::new() };
            let (joined, end) = self.written.get_or_insert_with(|| (empty(), bytes));
            (joined.hi, *end) = (hi, bytes);
            joined.records += records;
            add_counters(&mut joined.counters, counters);
        }
    }
}

/// Leaves out what earlier attempts reduced. `ranges`: the ranges of all partitions in order, with their tickets.
pub fn left(ranges: Vec<(KeyRange, usize)>, kept: &Kept) -> Vec<(KeyRange, usize)> {
    let mut left: Vec<(KeyRange, usize)> = Vec::with_capacity(ranges.len());
    for (mut range, _) in ranges {
        if let Some(reduced) = kept.reduced.get(&range.partition) {
            if reduced.hi >= range.hi {
                continue;
            }
            range.lo = range.lo.max(reduced.hi + 1);
        }
        let ticket =
            left.last().map_or(0, |(last, ticket)| if last.partition == range.partition { ticket + 1 } else { 0 });
        left.push((range, ticket));
    }
    left
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::journal::Reduced;

    #[test]
    fn reduced_ranges_are_left_out() {
        let range = |partition, lo, hi| KeyRange { partition, lo, hi };
        let all = || {
            vec![
                (range(0, 0, 9), 0),
                (range(0, 10, u64::MAX), 1),
                (range(1, 0, u64::MAX), 0),
                (range(2, 0, 4), 0),
                (range(2, 5, 9), 1),
                (range(2, 10, u64::MAX), 2),
            ]
        };
        assert_eq!(left(all(), &Kept::default()), all());
        let reduced = |hi| Reduced { hi, bytes: 0, records: 0, counters: CounterTable::new() };
        let kept = Kept { reduced: [(1, reduced(u64::MAX)), (2, reduced(6))].into(), ..Kept::default() };
        let expect =
            vec![(range(0, 0, 9), 0), (range(0, 10, u64::MAX), 1), (range(2, 7, 9), 0), (range(2, 10, u64::MAX), 1)];
        assert_eq!(left(all(), &kept), expect);
    }
}
