//! Rows of the report: one for each spill, and one for each merge of runs into a longer run.

use super::SpillRow;
use crate::collect::spill::FinishedSpill;
use crate::run::passes::FinishedMerge;

fn ms(ns: u64) -> f64 {
    ns as f64 / 1e6
}

/// Adds the row of a spill. `job_start_ns`: start of the job on its clock.
pub fn add_spill(rows: &mut Vec<SpillRow>, spill: &FinishedSpill, job_start_ns: u64) {
    let start_ms = ms(spill.start_ns.saturating_sub(job_start_ns));
    let worker = spill.worker as u32;
    let before = rows.iter().rev().find(|row| row.kind == "spill" && row.worker == worker);
    let collecting_ms = before.map_or(0.0, |row| row.start_ms + row.sort_ms + row.write_ms);
    let sort_ms = ms(spill.sort_ns);
    rows.push(SpillRow {
        kind: "spill".into(),
        worker,
        start_ms,
        collect_ms: (start_ms - collecting_ms).max(0.0),
        sort_ms,
        write_ms: (ms(spill.end_ns.saturating_sub(spill.start_ns)) - sort_ms).max(0.0),
        merged: 0,
        records: spill.records,
        raw_bytes: spill.bytes,
        written_records: spill.written.records,
        stored_bytes: spill.written.stored_bytes,
        segments: spill.segments,
    });
}

/// Adds the row of a merge.
pub fn add_merge(rows: &mut Vec<SpillRow>, merge: &FinishedMerge, job_start_ns: u64) {
    rows.push(SpillRow {
        kind: "merge".into(),
        start_ms: ms(merge.start_ns.saturating_sub(job_start_ns)),
        write_ms: ms(merge.end_ns.saturating_sub(merge.start_ns)),
        merged: merge.runs as u64,
        records: merge.written.records,
        raw_bytes: merge.written.record_bytes,
        written_records: merge.written.records,
        stored_bytes: merge.written.stored_bytes,
        segments: merge.segments,
        ..SpillRow::default()
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::RunTotals;

    #[test]
    fn collecting_ends_where_the_spill_begins() {
        let mut rows = Vec::new();
        let spill = |worker: usize, start_ns: u64, end_ns: u64| FinishedSpill {
            worker,
            start_ns,
            end_ns,
            sort_ns: 1_000_000,
            records: 7,
            bytes: 70,
            written: RunTotals { records: 5, record_bytes: 50, stored_bytes: 20 },
            segments: 3,
        };
        add_spill(&mut rows, &spill(0, 10_000_000, 14_000_000), 2_000_000);
        add_spill(&mut rows, &spill(1, 11_000_000, 12_000_000), 2_000_000);
        add_spill(&mut rows, &spill(0, 20_000_000, 22_000_000), 2_000_000);
        let times: Vec<_> = rows.iter().map(|r| (r.worker, r.start_ms, r.collect_ms, r.sort_ms, r.write_ms)).collect();
        assert_eq!(times, [(0, 8.0, 8.0, 1.0, 3.0), (1, 9.0, 9.0, 1.0, 0.0), (0, 18.0, 6.0, 1.0, 1.0)]);
        let row = &rows[0];
        let amounts = (row.records, row.raw_bytes, row.written_records, row.stored_bytes, row.segments);
        assert_eq!(amounts, (7, 70, 5, 20, 3));
        let written = RunTotals { records: 9, record_bytes: 90, stored_bytes: 40 };
        let merge = FinishedMerge { runs: 4, start_ns: 30_000_000, end_ns: 35_000_000, written, segments: 2 };
        add_merge(&mut rows, &merge, 2_000_000);
        let row = &rows[3];
        assert_eq!((&*row.kind, row.merged, row.start_ms, row.write_ms), ("merge", 4, 28.0, 5.0));
        assert_eq!((row.records, row.stored_bytes, row.segments), (9, 40, 2));
    }
}
