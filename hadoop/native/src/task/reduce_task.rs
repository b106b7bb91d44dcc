//! A native reduce task: merged records through the engine's reducer or folder, into one file.

use std::sync::Arc;

use yunti_base::Result;
use yunti_engine::env::{Env, NamedFile};
use yunti_engine::job::Control;
use yunti_engine::job::task::{self, Counters};

use super::TaskJob;
use crate::shuffle::ReduceInput;

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
    task::reduce(&job.spec, env, &job.classes, control, partition, |each| input.drain(each), file)
}
