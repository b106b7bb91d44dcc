//! A native reduce task: merged records through the engine's reducer or folder, to one file.

use std::sync::Arc;

use yunti_base::Result;
use yunti_engine::env::{Env, NamedFile};
use yunti_engine::job::Control;
use yunti_engine::job::task::{self, Counters};

use super::TaskJob;
use crate::shuffle::ReduceInput;

/// Reduces what `input` holds, once it is open. `file` is written from start to end.
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
