//! Rules about joins with the small side in memory.

use super::*;

/// Reducer of a join. No combiner makes fewer records for it.
pub(super) use crate::library::applications::join::REDUCERS;

/// Fires if a hash join sorted both sides, because its table did not fit. Names the memory that holds the table.
pub(super) fn sorted_instead(report: &Report) -> Option<Advice> {
    let table = report.join_table.as_ref().filter(|table| table.sorted)?;
    let memory = report.machine.memory_bytes;
    let fits = memory == 0 || table.budget_bytes <= memory / 10 * 8;
    if on_cluster(report) || !is_long(report) || !fits {
        return None;
    }
    let took = share(report, &["collect", "spill", "sort", "merge"]);
    let size = whole_size(table.budget_bytes);
    advice(
        "join-table",
        format!(
            "the table of a side file of {} did not fit in {}; sorting both sides instead took {} of the time",
            budget::size(table.side_bytes),
            budget::size(report.memory.budget_bytes),
            percent(took)
        ),
        format!("about {size} of memory holds the table, and nothing is sorted"),
        Some(format!("--memory {size}")),
    )
}

/// Fires if the table of a hash join is the larger side, and building it took much of the time.
pub(super) fn large_side(report: &Report) -> Option<Advice> {
    let table = report.join_table.as_ref().filter(|table| !table.sorted)?;
    let took = share(report, &["prepare"]);
    if !is_long(report) || took < LITTLE * 6.0 || table.side_bytes <= report.job.input_bytes {
        return None;
    }
    advice(
        "join-sides",
        format!(
            "building the table took {} of the time: the side file has {}, the input {}",
            percent(took),
            budget::size(table.side_bytes),
            budget::size(report.job.input_bytes)
        ),
        "name the smaller side with --side-file, if lines without a partner are not wanted".into(),
        None,
    )
}

#[cfg(test)]
mod tests {
    use super::super::super::JoinTableUse;
    use super::super::check::*;

    #[test]
    fn table_that_did_not_fit() {
        let mut report = spilled();
        let table =
            JoinTableUse { side_bytes: 3 << 30, rows: 1000, table_bytes: 4 << 30, budget_bytes: 6 << 30, sorted: true };
        report.join_table = Some(table.clone());
        fires(&report, "join-table", &["3 GiB did not fit in 1 GiB", "42 %", "--memory 6GiB"]);
        // A sort is right where no memory is enough. Less of it spills with more memory.
        report.machine.memory_bytes = 7 << 30;
        fires(&report, "spills", &["--memory 3GiB"]);
        let mut report = quiet();
        report.join_table = Some(JoinTableUse { sorted: false, ..table });
        is_quiet(&report);
    }

    #[test]
    fn large_side_in_memory() {
        let mut report = quiet();
        report.join_table = Some(JoinTableUse { side_bytes: 2 << 30, ..JoinTableUse::default() });
        is_quiet(&report);
        stage(&mut report, "prepare", 10_000.0);
        fires(&report, "join-sides", &["34 %", "2 GiB, the input 1 GiB", "--side-file"]);
        report.job.input_bytes = 3 << 30;
        is_quiet(&report);
    }
}
