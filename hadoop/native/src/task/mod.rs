//! Tasks that are native from reader to writer: a job of the fat node, one map or reduce task of it at a time.

pub mod map_task;
pub mod reduce_task;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use yunti_engine::base::Result;
use yunti_engine::job::JobSpec;
use yunti_engine::job::spec::file::parse_job_file;
use yunti_engine::operator::ClassSource;
use yunti_engine::{abi, library};

/// What every task of a job is told.
pub struct TaskJob {
    pub spec: JobSpec,
    pub classes: Vec<Arc<dyn ClassSource>>,
}

impl TaskJob {
    /// From the text of a job file. Its libraries are files that the cluster laid beside the task.
    pub fn new(text: &str, memory_bytes: u64, scratch: Vec<PathBuf>) -> Result<TaskJob> {
        let mut spec = JobSpec::default();
        parse_job_file(text, Path::new("the job"))?.change.apply(&mut spec)?;
        spec.memory_bytes = Some(memory_bytes);
        spec.threads = Some(1);
        spec.scratch_dirs = scratch;
        let mut classes: Vec<Arc<dyn ClassSource>> = Vec::new();
        for path in &spec.libraries {
            classes.push(abi::load(path)?);
        }
        classes.push(library::builtin_classes());
        Ok(TaskJob { spec, classes })
    }
}
