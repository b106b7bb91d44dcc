//! Modes sorted and grouped: map into collectors or fold tables, then sort, merge or fold, reduce, write.
//!
//! ```text
//!   map phase                      its output                then
//!   collectors, nothing spilled    records in memory         sort buckets -> reduce -> write      (reduce/buckets)
//!   collectors, runs spilled       runs on scratch           merge ranges -> reduce -> write      (reduce/runs)
//!   fold tables, grouped           tables that fit           merge hash ranges -> write           (reduce/tables)
//!                                  tables spilled as runs    the same, from scratch               (reduce/table_runs)
//!   fold tables, else              drained into collectors   as the first two, states merged
//! ```

use super::map_phase;
use super::reduce::{buckets, runs, table_runs, tables};
use super::running_job::{RunningJob, show_output};
use crate::write::Output;
use yunti_base::Result;

/// Runs a job of mode sorted or grouped up to its last written record.
pub fn run(running: &RunningJob<'_>, output: &Output) -> Result<()> {
    let map_output = map_phase::run(running)?;
    let fold_input = map_output.fold_input;
    let result = if !map_output.table_runs.is_empty() {
        table_runs::run(running, map_output, output)
    } else if !map_output.tables.is_empty() {
        tables::run(running, map_output, output)
    } else if !map_output.runs.is_empty() {
        runs::run(running, map_output, fold_input, output)
    } else {
        buckets::run(running, map_output, fold_input, output)
    };
    show_output(running);
    result
}
