//! A native reduce task: merged records through the engine's reducer or folder, into one file.

use std::sync::Arc;

use yunti_base::Result;
use yunti_engine::env::{Env, NamedFile};
use yunti_engine::job::Control;
use yunti_engine::job::task::{self, Counters};

use super::TaskJob;
use crate::shuffle::ReduceInput;

/// Bytes of a reduce with a table, at least.
const TABLE_BYTES_MIN: u64 = 4 << 20;

/// Reduces the records of an open `input`; `file` is written from start to end. Returns the counters.
///
/// Fails with the error of the job's classes, of a read or of a write.
pub fn run(
    job: &TaskJob,
    env: &Env,
    control: &Arc<Control>,
    input: &ReduceInput,
    partition: u32,
    file: NamedFile,
) -> Result<Counters> {
    let mut spec = job.spec.clone();
    if input.is_apart() {
        // A merge takes up to a quarter of the input's memory; here a table takes that, and what segments leave.
        spec.memory_bytes = spec.memory_bytes.map(|bytes| (bytes / 4 + input.free_bytes()).max(TABLE_BYTES_MIN));
    }
    task::reduce(&spec, env, &job.classes, control, partition, |each| input.drain(each), file)
}
