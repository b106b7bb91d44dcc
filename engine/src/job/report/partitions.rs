//! Records and bytes by partition: the balance of the second half of a job.
//!
//! Counted once a bucket, a range or a task. The input of a partition is known if records are sorted or merged. If
//! tables of folders are merged, keys of all partitions are mixed, and only the output is known by partition.

use std::sync::atomic::{AtomicU64, Ordering};

use super::{Measure, PartitionRow, Partitions};
use crate::job::plan::Plan;
use crate::job::spec::{JobSpec, Mode, OutputTarget};
use crate::write::output::OutputTotals;

/// Partitions that are counted one by one, at most: the counters are outside the memory budget.
const COUNTED_MAX: usize = 1 << 16;
/// Partitions up to which a report lists all.
const ROWS_ALL: usize = 256;
/// Partitions listed if there are more.
const ROWS_LARGEST: usize = 20;

/// Returns the number of partitions (in mode none: splits) to count; 0 if they are not counted.
pub fn counted(spec: &JobSpec, plan: &Plan) -> usize {
    let parts = match (spec.mode, &spec.output) {
        (Mode::None, OutputTarget::Directory(_)) => plan.splits.len(),
        // All splits go to one stream.
        (Mode::None, _) => 0,
        _ => plan.partitions as usize,
    };
    if parts > COUNTED_MAX { 0 } else { parts }
}

/// Input of each partition of a running job.
pub struct PartitionMeter(Vec<PartitionInput>);

#[derive(Default)]
struct PartitionInput {
    records: AtomicU64,
    bytes: AtomicU64,
}

impl PartitionMeter {
    /// Makes counters for `parts` partitions.
    pub fn new(parts: usize) -> PartitionMeter {
        PartitionMeter((0..parts).map(|_| PartitionInput::default()).collect())
    }

    /// Adds input of a partition. A partition that is not counted is ignored.
    pub fn add(&self, part: usize, records: u64, bytes: u64) {
        if let Some(given) = self.0.get(part) {
            given.records.fetch_add(records, Ordering::Relaxed);
            given.bytes.fetch_add(bytes, Ordering::Relaxed);
        }
    }

    /// Returns the balance of input and output. `of`: kind of the parts. `None` if nothing was counted.
    pub fn summary(&self, of: &str, totals: &OutputTotals) -> Option<Partitions> {
        let load = |n: &AtomicU64| n.load(Ordering::Relaxed);
        let columns = [
            ("input_records", self.0.iter().map(|g| load(&g.records)).collect()),
            ("input_bytes", self.0.iter().map(|g| load(&g.bytes)).collect()),
            ("output_records", totals.parts.iter().map(|p| load(&p.records)).collect()),
            ("output_bytes", totals.parts.iter().map(|p| load(&p.bytes)).collect()),
        ];
        summarise(of, columns)
    }
}

/// Summarises columns of one value a partition. Columns that are empty or all zero count as not counted.
pub fn summarise<const N: usize>(of: &str, columns: [(&str, Vec<u64>); N]) -> Option<Partitions> {
    let columns: Vec<_> = columns.into_iter().filter(|(_, values)| values.iter().any(|v| *v > 0)).collect();
    let count = columns.first()?.1.len();
    let cut = count > ROWS_ALL;
    let measures = columns.iter().map(|(name, values)| {
        let mut sorted = values.clone();
        sorted.sort_unstable();
        Measure {
            name: (*name).into(),
            total: sorted.iter().sum(),
            least: sorted[0],
            median: sorted[(count - 1) / 2],
            most: sorted[count - 1],
            spread: if cut { (0..=100).map(|p| sorted[(count - 1) * p / 100]).collect() } else { Vec::new() },
        }
    });
    let measures = measures.collect();
    let mut numbers: Vec<usize> = (0..count).collect();
    if cut {
        numbers.sort_by_key(|&n| std::cmp::Reverse(columns[0].1[n]));
        numbers.truncate(ROWS_LARGEST);
    }
    let row = |n: usize| PartitionRow { number: n as u64, values: columns.iter().map(|(_, v)| v[n]).collect() };
    Some(Partitions { of: of.into(), count: count as u64, measures, rows: numbers.into_iter().map(row).collect() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_few_partitions_and_summarises_many() {
        let few = summarise("partition", [("input_records", vec![5, 0, 9]), ("input_bytes", vec![0, 0, 0])]).unwrap();
        assert_eq!((few.count, few.measures.len(), few.rows.len()), (3, 1, 3));
        let m = &few.measures[0];
        assert_eq!((m.total, m.least, m.median, m.most, m.spread.len()), (14, 0, 5, 9, 0));
        assert_eq!((few.rows[2].number, &few.rows[2].values[..]), (2, &[9][..]));

        let values: Vec<u64> = (0..5000).map(|n| if n == 17 { 1_000_000 } else { n }).collect();
        let many = summarise("partition", [("input_records", values.clone()), ("output_records", values)]).unwrap();
        assert_eq!((many.count, many.rows.len(), many.measures[1].spread.len()), (5000, ROWS_LARGEST, 101));
        let largest: Vec<u64> = many.rows.iter().take(3).map(|r| r.number).collect();
        assert_eq!(largest, [17, 4999, 4998]);
        assert_eq!(many.measures[0].spread[100], 1_000_000);
        assert!(many.measures[0].spread.is_sorted());

        assert!(summarise("split", [("input_records", vec![0, 0])]).is_none());
        assert!(summarise("split", [("input_records", Vec::new())]).is_none());
    }
}
