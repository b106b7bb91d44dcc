//! What a task's operators are given: settings, counters, a place for messages (yt_context of the C ABI).

use std::any::Any;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use super::{Emitter, Sink, Type};
use yunti_base::{Code, Error, Result};

/// The job's settings (-D key=value, or the job file's `[settings]`).
pub type Settings = BTreeMap<String, String>;

/// Counters by (group, name); a job's are the sum over its tasks.
pub type CounterTable = BTreeMap<(String, String), u64>;

/// What all tasks of a job are given.
#[derive(Default)]
pub struct JobContext {
    /// What tasks have made of it for each other.
    shared: Mutex<BTreeMap<&'static str, Arc<dyn Any + Send + Sync>>>,
    pub settings: Settings,
    /// The contents of the job's side files, by their names without directories.
    pub side_files: BTreeMap<String, Vec<u8>>,
    /// The files of the input, by the index that batches have. A task on a cluster knows its own alone.
    pub inputs: Vec<String>,
}

impl JobContext {
    pub fn new(settings: Settings, side_files: BTreeMap<String, Vec<u8>>, inputs: Vec<String>) -> Arc<Self> {
        Arc::new(JobContext { shared: Mutex::default(), settings, side_files, inputs })
    }

    /// What the first task that asks makes, for all of the job.
    pub fn shared<T: Any + Send + Sync>(&self, name: &'static str, make: impl FnOnce() -> Result<T>) -> Result<Arc<T>> {
        let mut shared = self.shared.lock().unwrap_or_else(|e| e.into_inner());
        if let Some(found) = shared.get(name).and_then(|any| any.clone().downcast().ok()) {
            return Ok(found);
        }
        let made = Arc::new(make()?);
        shared.insert(name, made.clone());
        Ok(made)
    }
}

/// Outputs beside the one that a task writes, by their names in the job.
pub trait Outputs: Send + Sync {
    /// What takes the records of one of them, of these types; asked once by each operator of a task.
    fn open(&self, task: &Arc<TaskContext>, name: &str, types: (Type, Type)) -> Result<Box<dyn NamedOutput>>;
}

/// A sink of records in form COPY. Call order: as of a sink, then `close` once.
pub trait NamedOutput: Sink {
    fn close(&mut self) -> Result<()>;
}

/// Made for one task. Operators of the task share it, on one thread at a time.
pub struct TaskContext {
    pub job: Arc<JobContext>,
    pub is_reduce: bool,
    /// The number of the split, or of the partition.
    pub task: u32,
    pub partitions: u32,
    /// Counters of the built-ins; class libraries have slots of their own, added here when the task ends.
    pub counters: Mutex<CounterTable>,
    /// One line about what the task does now.
    pub status: Mutex<Option<String>>,
    /// Of mappers and reducers.
    outputs: Option<Arc<dyn Outputs>>,
}

impl TaskContext {
    pub fn new(job: Arc<JobContext>, is_reduce: bool, task: u32, partitions: u32) -> Arc<Self> {
        Self::with_outputs(job, is_reduce, task, partitions, None)
    }

    pub fn with_outputs(
        job: Arc<JobContext>,
        is_reduce: bool,
        task: u32,
        partitions: u32,
        outputs: Option<Arc<dyn Outputs>>,
    ) -> Arc<Self> {
        Arc::new(TaskContext {
            job,
            is_reduce,
            task,
            partitions,
            counters: Mutex::new(CounterTable::new()),
            status: Mutex::new(None),
            outputs,
        })
    }

    /// One of the job's named outputs.
    pub fn output(self: &Arc<Self>, name: &str, types: (Type, Type)) -> Result<Emitter<Box<dyn NamedOutput>>> {
        match &self.outputs {
            Some(outputs) => Emitter::new(outputs.open(self, name, types)?, false, false),
            None => Err(Error::new(Code::UserCode, format!("the output {name} is asked for where there is none"))
                .hint("mappers and reducers have named outputs, in jobs with an output directory")),
        }
    }

    pub fn setting(&self, key: &str) -> Option<&str> {
        self.job.settings.get(key).map(String::as_str)
    }

    pub fn count(&self, group: &str, name: &str, by: u64) {
        let mut counters = self.counters.lock().unwrap_or_else(|e| e.into_inner());
        *counters.entry((group.to_string(), name.to_string())).or_insert(0) += by;
    }
}
