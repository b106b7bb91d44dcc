//! A native map task: one split through the engine's map phase, and its output as IFile.

use std::path::Path;
use std::sync::Arc;

use yunti_base::Cancel;
use yunti_base::{Code, Result};
use yunti_engine::env::{Env, NamedFile};
use yunti_engine::job::task::{self, Counters, MapTaskOutput, TaskSplit};
use yunti_engine::job::{Control, InputFormat};

use super::TaskJob;
use crate::collect::map_output::write_merged;
use crate::compress::Codec;
use crate::ifile::{OutputFile, Segment};
use crate::key::KeyForm;
use crate::sorted::{CombineMode, TaskLog, TaskSpace};

/// Bytes of a task's memory, at most, for records that do not fit in its own.
const MEMORY_BYTES_MOST: u64 = 256 << 20;

/// Maps the split. Records too large for the sort buffer, which Hadoop writes directly, need more memory for once.
/// Records from Java cannot be read again.
fn map(
    job: &TaskJob,
    env: &Env,
    control: &Arc<Control>,
    split: &TaskSplit,
    bounds: Option<Vec<Vec<u8>>>,
) -> Result<MapTaskOutput> {
    let mut spec = job.spec.clone();
    loop {
        match task::map(&spec, env, &job.classes, control, split, bounds.clone()) {
            Err(e) if e.code() == Code::Memory && spec.input_format != InputFormat::Framed => {
                let more = spec.memory_bytes.unwrap_or(MEMORY_BYTES_MOST).saturating_mul(4);
                if more > MEMORY_BYTES_MOST {
                    return Err(e);
                }
                spec.memory_bytes = Some(more);
            }
            result => return result,
        }
    }
}

/// Maps the split and writes the file that reducers fetch, with keys in the engine's order. Returns its segments and
/// the counters.
///
/// Fails with the error of the job's classes, of a read or of a write.
pub fn run(
    job: &TaskJob,
    env: &Env,
    control: &Arc<Control>,
    split: &TaskSplit,
    bounds: Option<Vec<Vec<u8>>>,
    codec: Codec,
    output: &Path,
) -> Result<(Vec<Segment>, Counters)> {
    let mapped = map(job, env, control, split, bounds)?;
    let MapTaskOutput { store, mut collected, runs, scratch, partitions, mut counters } = mapped;
    let start = env.clock.now_ns();
    let stage = if runs.is_empty() { "SORT" } else { "MERGE" };
    let budget = store.budget().clone();
    let order = store.order();
    let space = TaskSpace {
        env: env.clone(),
        scratch,
        runs: Default::default(),
        partitions,
        form: KeyForm::Same,
        order,
        comparator: None,
        run_block_bytes: runs.first().map_or(256 << 10, |r| r.block_bytes()),
        counts: Default::default(),
        log: TaskLog::default(),
        cancel: Cancel::default(),
    };
    let file = NamedFile::create(&*env.files, output, Code::Output)?;
    let mut out = OutputFile::new(file, KeyForm::Same, codec)?;
    if runs.is_empty() {
        space.sorted(&store, &mut collected, |sorted| {
            space.drain_to_file(sorted, &mut CombineMode::Nothing, &mut out)
        })?;
    } else {
        collected.release(&store);
        drop(store);
        write_merged(&space, runs, budget.limit_bytes(), &mut CombineMode::Nothing, &mut out)?;
    }
    let (segments, _) = out.finish(partitions)?;
    task::count_stage(&mut counters, stage, env.clock.now_ns() - start);
    Ok((segments, counters))
}
