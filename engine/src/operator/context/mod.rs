//! Context of a task's operators: settings, counters, status, named outputs (yt_context of the C ABI).

use std::any::Any;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

pub mod bad_records;
pub mod workspace;

pub use bad_records::{BadRecord, BadRecords};
pub use workspace::{SpillSpace, SpilledBytes, Workspace};

use crate::env::sync::Mutex;
use crate::env::{Clock, Env, Messages, Processes};
use crate::operator::{Emitter, Sink, Type};
use yunti_base::{Cancel, Code, Error, Result};

/// The job's settings (-D key=value, or the job file's `[settings]`).
pub type Settings = BTreeMap<String, String>;

/// Hadoop's counter group of tasks.
pub const TASK_COUNTERS: &str = "org.apache.hadoop.mapreduce.TaskCounter";

/// Group of the counters `KEYS` and `VALUES`, which a mapper that folds for itself leaves for
/// `RunningJob::map_output_lengths`.
pub const LENGTH_COUNTERS: &str = "Yunti, lengths of map output";

/// Attempts of a task if the job does not set them, as in Hadoop.
const ATTEMPTS_MAX_DEFAULT: u32 = 4;

/// Returns the attempts of a task until an error of user code ends the job, from Hadoop's settings.
///
/// Errors: `Usage` for a setting that is not a positive whole number.
pub fn attempts_max(settings: &Settings, is_reduce: bool) -> Result<u32> {
    let key = if is_reduce { "mapreduce.reduce.maxattempts" } else { "mapreduce.map.maxattempts" };
    let Some(text) = settings.get(key) else { return Ok(ATTEMPTS_MAX_DEFAULT) };
    let number = text.trim().parse::<u32>().ok().filter(|&n| n > 0);
    number.ok_or_else(|| Error::new(Code::Usage, format!("{key}: '{text}' is not a whole number from 1")))
}

/// Hadoop's setting for the milliseconds that a task may spend without progress; 0: any time.
const TIMEOUT: &str = "mapreduce.task.timeout";
const TIMEOUT_DEFAULT: Duration = Duration::from_secs(600);

/// Returns the time that user code may spend without progress; None: any. Errors: `Usage` for a setting that is no
/// number.
pub fn task_timeout(settings: &Settings) -> Result<Option<Duration>> {
    let Some(text) = settings.get(TIMEOUT) else { return Ok(Some(TIMEOUT_DEFAULT)) };
    match text.trim().parse() {
        Ok(ms) => Ok((ms > 0).then(|| Duration::from_millis(ms))),
        Err(_) => Err(Error::new(Code::Usage, format!("{TIMEOUT}: '{text}' is not a number of milliseconds"))),
    }
}

/// Returns the line about a failed attempt of a task that another follows. `again`: what is tried again.
pub fn failed_attempt(is_reduce: bool, task: u32, (attempt, max): (u32, u32), error: &Error, again: &str) -> String {
    let kind = if is_reduce { "reduce" } else { "map" };
    format!("{kind} task {task}, attempt {attempt} of {max}: {error}; {again} is tried again")
}

/// Counters by (group, name); a job's counters are the sums over its tasks.
pub type CounterTable = BTreeMap<(String, String), u64>;

/// Adds counters to others.
pub fn add_counters(to: &mut CounterTable, counters: impl IntoIterator<Item = ((String, String), u64)>) {
    for (name, n) in counters {
        *to.entry(name).or_insert(0) += n;
    }
}

/// Context shared by all tasks of a job.
pub struct JobContext {
    /// Values that tasks share, by name.
    shared: Mutex<BTreeMap<&'static str, Arc<dyn Any + Send + Sync>>>,
    /// Settings of the job.
    pub settings: Settings,
    /// Contents of the job's side files, by name without directory.
    pub side_files: BTreeMap<String, Vec<u8>>,
    /// Names of the input files, by the index in batches. A task on a cluster knows only its own files.
    pub inputs: Vec<String>,
    /// Outside world, for operators that run user code in processes.
    pub host: Host,
    /// Records that user code fails at.
    pub bad_records: BadRecords,
    /// Memory and scratch space of operators.
    pub workspace: Workspace,
}

/// Part of the outside world that operators see.
pub struct Host {
    /// Cancellation of the job, for operators that wait.
    pub cancel: Cancel,
    /// Lines of user code for the user.
    pub messages: Arc<dyn Messages>,
    pub clock: Arc<dyn Clock>,
    pub processes: Arc<dyn Processes>,
}

impl Host {
    /// Returns the host of a job in this environment.
    pub fn of(env: &Env, cancel: &Cancel) -> Host {
        Host {
            cancel: cancel.clone(),
            messages: env.messages.clone(),
            clock: env.clock.clone(),
            processes: env.processes.clone(),
        }
    }
}

impl JobContext {
    /// Returns a context without shared values, on this machine. The job is not cancelled, and messages are discarded.
    pub fn new(settings: Settings, side_files: BTreeMap<String, Vec<u8>>, inputs: Vec<String>) -> Arc<Self> {
        let env = Env { messages: Arc::new(()), ..Env::real() };
        let host = Host::of(&env, &Cancel::default());
        Self::with_host(settings, side_files, inputs, host, BadRecords::default(), Workspace::default())
    }

    /// Returns a context without settings and files, as `new`.
    pub fn empty() -> Arc<Self> {
        Self::new(Settings::new(), BTreeMap::new(), Vec::new())
    }

    /// Returns the context of a job on a host.
    pub fn with_host(
        settings: Settings,
        side_files: BTreeMap<String, Vec<u8>>,
        inputs: Vec<String>,
        host: Host,
        bad_records: BadRecords,
        workspace: Workspace,
    ) -> Arc<Self> {
        Arc::new(JobContext { shared: Mutex::default(), settings, side_files, inputs, host, bad_records, workspace })
    }

    /// Shares a value that the job made before its tasks.
    pub fn share<T: Any + Send + Sync>(&self, name: &'static str, value: T) {
        self.shared.lock().unwrap_or_else(|e| e.into_inner()).insert(name, Arc::new(value));
    }

    /// Returns the shared value `name`. The first task that requests it makes it; fails with the error of `make`, or
    /// makes the value again if the stored type differs.
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

/// Outputs beside a task's main output, by their names in the job.
pub trait Outputs: Send + Sync {
    /// Opens a named output for records of these types; each operator of a task opens it once.
    ///
    /// Fails with `Code::UserCode` if the job has no such output.
    fn open(&self, task: &Arc<TaskContext>, name: &str, types: (Type, Type)) -> Result<Box<dyn NamedOutput>>;
}

/// A sink of records in form COPY. Call order: as for a sink, then `close` once.
pub trait NamedOutput: Sink {
    /// Writes the last records and closes the output.
    fn close(&mut self) -> Result<()>;
}

/// Context of one task. Operators of the task share it, on one thread at a time.
pub struct TaskContext {
    /// Context of the job.
    pub job: Arc<JobContext>,
    /// True for a reduce task.
    pub is_reduce: bool,
    /// Number of the split, or of the partition.
    pub task: u32,
    /// Number of partitions.
    pub partitions: u32,
    /// Counters of the built-ins. Class libraries count in their own slots, which are added when the task ends.
    pub counters: Mutex<CounterTable>,
    /// Current status of the task, one line.
    pub status: Mutex<Option<String>>,
    /// Named outputs, for mappers and reducers.
    outputs: Option<Arc<dyn Outputs>>,
}

impl TaskContext {
    /// Returns the context of a task without named outputs.
    pub fn new(job: Arc<JobContext>, is_reduce: bool, task: u32, partitions: u32) -> Arc<Self> {
        Self::with_outputs(job, is_reduce, task, partitions, None)
    }

    /// Returns the context of a task.
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

    /// Opens one of the job's named outputs for records of these types.
    ///
    /// Fails with `Code::UserCode` if the task has no named outputs, or none of this name.
    pub fn output(self: &Arc<Self>, name: &str, types: (Type, Type)) -> Result<Emitter<Box<dyn NamedOutput>>> {
        match &self.outputs {
            Some(outputs) => Emitter::new(outputs.open(self, name, types)?, false, false),
            None => Err(Error::new(Code::UserCode, format!("this task has no output {name}"))
                .hint("mappers and reducers have named outputs, in jobs with an output directory")),
        }
    }

    /// Returns a setting of the job.
    pub fn setting(&self, key: &str) -> Option<&str> {
        self.job.settings.get(key).map(String::as_str)
    }

    /// Sets the status of the task, one line.
    pub fn set_status(&self, status: String) {
        self.job.host.messages.set_status(&status);
        *self.status.lock().unwrap_or_else(|e| e.into_inner()) = Some(status);
    }

    /// Adds `by` to a counter.
    pub fn count(&self, group: &str, name: &str, by: u64) {
        let mut counters = self.counters.lock().unwrap_or_else(|e| e.into_inner());
        *counters.entry((group.to_string(), name.to_string())).or_insert(0) += by;
    }
}
