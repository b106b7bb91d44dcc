//! Table of a job's spills and merges. Of many, it has the first, the last, the slowest and the totals; the JSON report
//! has all.

use yunti_engine::job::report::SpillRow;

use super::numbers;
use super::table::{Side, Table};
use yunti_program::terminal::paint::Paint;

/// Rows of a kind that the table lists one by one, at most.
const LISTED_MAX: usize = 4;

/// Returns the table of the spills, then of the merges.
pub fn table(rows: &[SpillRow], paint: Paint) -> String {
    let mut table = Table::new(&[
        ("spill", Side::Left),
        ("at", Side::Right),
        ("collect", Side::Right),
        ("sort", Side::Right),
        ("write", Side::Right),
        ("records", Side::Right),
        ("bytes", Side::Right),
        ("stored", Side::Right),
        ("segments", Side::Right),
    ]);
    for kind in ["spill", "merge"] {
        let of_kind: Vec<&SpillRow> = rows.iter().filter(|row| row.kind == kind).collect();
        for (name, row) in chosen(kind, &of_kind) {
            table.row(cells(name, row));
        }
        if of_kind.len() > 1 {
            table.row(cells(format!("all {}", numbers::several(of_kind.len() as u64, kind)), &sum(&of_kind)));
        }
    }
    table.print(paint)
}

/// Returns the rows to list, with their names.
fn chosen<'r>(kind: &str, rows: &[&'r SpillRow]) -> Vec<(String, &'r SpillRow)> {
    let name = |i: usize, row: &SpillRow| match row.merged {
        0 => format!("{kind} {}", i + 1),
        n => format!("{kind} {} of {n} runs", i + 1),
    };
    if rows.len() <= LISTED_MAX {
        return rows.iter().enumerate().map(|(i, row)| (name(i, row), *row)).collect();
    }
    let time_ms = |row: &SpillRow| row.sort_ms + row.write_ms;
    let slowest = (0..rows.len()).max_by(|&a, &b| time_ms(rows[a]).total_cmp(&time_ms(rows[b]))).unwrap_or(0);
    let label = |what: &str, i: usize| (format!("{what}: {}", name(i, rows[i])), rows[i]);
    vec![label("first", 0), label("last", rows.len() - 1), label("slowest", slowest)]
}

fn sum(rows: &[&SpillRow]) -> SpillRow {
    let ms = |of: fn(&SpillRow) -> f64| rows.iter().map(|row| of(row)).sum::<f64>();
    let n = |of: fn(&SpillRow) -> u64| rows.iter().map(|row| of(row)).sum::<u64>();
    SpillRow {
        start_ms: rows.iter().map(|row| row.start_ms).fold(f64::MAX, f64::min),
        collect_ms: ms(|r| r.collect_ms),
        sort_ms: ms(|r| r.sort_ms),
        write_ms: ms(|r| r.write_ms),
        records: n(|r| r.records),
        raw_bytes: n(|r| r.raw_bytes),
        stored_bytes: n(|r| r.stored_bytes),
        segments: rows.iter().map(|row| row.segments).sum(),
        ..SpillRow::default()
    }
}

fn cells(name: String, row: &SpillRow) -> Vec<String> {
    let time = |ms: f64| if row.merged > 0 { String::new() } else { numbers::milliseconds(ms) };
    vec![
        name,
        numbers::milliseconds(row.start_ms),
        time(row.collect_ms),
        time(row.sort_ms),
        numbers::milliseconds(row.write_ms),
        numbers::about(row.records),
        numbers::bytes(row.raw_bytes),
        numbers::bytes(row.stored_bytes),
        numbers::count(u64::from(row.segments)),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(i: u64) -> SpillRow {
        SpillRow {
            kind: "spill".into(),
            start_ms: 10.0 * i as f64,
            collect_ms: 7.0,
            sort_ms: 1.0,
            write_ms: if i == 3 { 9.0 } else { 2.0 },
            records: 1000,
            raw_bytes: 100_000,
            written_records: 1000,
            stored_bytes: 50_000,
            segments: 2,
            ..SpillRow::default()
        }
    }

    #[test]
    fn few_spills_are_listed_and_many_are_summarised() {
        let two = table(&[row(0), row(1)], Paint::OFF);
        assert_eq!(two.lines().count(), 4, "{two}");
        assert!(two.contains("spill 2") && two.contains("all 2 spills"), "{two}");
        let mut rows: Vec<SpillRow> = (0..9).map(row).collect();
        rows.push(SpillRow { kind: "merge".into(), merged: 6, records: 6000, ..row(9) });
        let many = table(&rows, Paint::OFF);
        assert_eq!(many.lines().count(), 6, "{many}");
        for part in ["first: spill 1", "last: spill 9", "slowest: spill 4", "all 9 spills", "merge 1 of 6 runs"] {
            assert!(many.contains(part), "{part}: {many}");
        }
        let all = many.lines().find(|line| line.contains("all 9 spills")).unwrap();
        assert!(all.contains("900 kB") && all.contains("450 kB") && all.ends_with("18"), "{all}");
        assert!(many.lines().all(|line| line.chars().count() <= 100), "{many}");
    }
}
