//! Frames that the phases of a job leave in its journal, and the work that they find there.
//!
//! `checkpoints`: splits that are mapped. `reduced`: keys that are reduced. This file: the state of a job that begins
//! with the work of earlier attempts.

pub mod checkpoints;
pub mod reduced;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::map_setup::TASK_COUNTERS;
use super::running_job::RunningJob;
use crate::job::commit::PendingOutput;
use crate::job::journal::Kept;
use crate::job::spec::OutputFormat;
use yunti_base::Result;

/// Returns true for the name of an output file that an earlier attempt wrote, and that this one needs. `splits`: the
/// kept splits.
pub fn keeps(
    (kept, splits): (&Kept, &BTreeSet<u32>),
    outputs: &BTreeMap<String, OutputFormat>,
    part_name: &dyn Fn(usize) -> String,
    name: &str,
) -> bool {
    let is_part = |number: u32| kept.part_bytes(number).is_some() && part_name(number as usize) == name;
    // A part has its number behind the last hyphen, as in part-r-00012.gz, and so has a file of a named output.
    let Some((before, after)) = name.rsplit_once('-') else { return false };
    let digits = after.split('.').next().unwrap_or_default();
    let Ok(number) = digits.parse::<u32>() else { return false };
    if before == "part" || before.starts_with("part-") {
        return is_part(number);
    }
    match before.rsplit_once('-') {
        Some((output, "m")) if outputs.contains_key(output) => splits.contains(&number),
        Some((output, "r")) if outputs.contains_key(output) => {
            kept.reduced.get(&number).is_some_and(|reduced| reduced.hi == u64::MAX)
        }
        _ => false,
    }
}

/// Adds the work of earlier attempts to the totals of a job that begins.
pub fn restore(running: &mut RunningJob<'_>, pending: Option<&PendingOutput>) -> Result<()> {
    let kept = &running.kept;
    if kept.is_empty() {
        return Ok(());
    }
    let counters = kept.counters();
    let read = counters.get(&(TASK_COUNTERS.into(), "MAP_INPUT_RECORDS".into())).copied().unwrap_or(0);
    running.control.records.fetch_add(read, Ordering::Relaxed);
    running.job.bad_records.restore(kept.bad_records());
    for (&number, reduced) in &kept.reduced {
        running.totals.add_kept(number as usize, reduced.records, reduced.bytes);
    }
    for (&number, part) in &kept.parts {
        running.totals.add_kept(number as usize, part.records, part.bytes);
    }
    let splits = kept.splits();
    let bytes: u64 = running.plan.splits.iter().filter(|s| splits.contains(&s.number)).map(|s| s.bytes).sum();
    if let (Some(outputs), Some(pending)) = (&running.outputs, pending) {
        outputs.add_kept(pending.bytes_where(&|name| !name.starts_with("part-"))?);
    }
    if let Some(phase) = &kept.map_phase
        && !phase.bounds.is_empty()
    {
        running.bounds = Some(Arc::new(phase.bounds.clone()));
    }
    running.add_counters(counters);
    running.advance(bytes);
    Ok(())
}
