//! What a task's operators are given: settings, counters, a place for messages (yt_context of the C ABI).

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

/// The job's settings (-D key=value, or the job file's `[settings]`).
pub type Settings = BTreeMap<String, String>;

/// Counters by (group, name); a job's are the sum over its tasks.
pub type CounterTable = BTreeMap<(String, String), u64>;

/// Made for one task. Operators of the task share it, on one thread at a time.
pub struct TaskContext {
    pub settings: Arc<Settings>,
    pub is_reduce: bool,
    /// The number of the split, or of the partition.
    pub task: u32,
    pub partitions: u32,
    /// Counters of the built-ins; class libraries have slots of their own, added here when the task ends.
    pub counters: Mutex<CounterTable>,
    /// One line about what the task does now.
    pub status: Mutex<Option<String>>,
}

impl TaskContext {
    pub fn new(settings: Arc<Settings>, is_reduce: bool, task: u32, partitions: u32) -> Arc<Self> {
        Arc::new(TaskContext {
            settings,
            is_reduce,
            task,
            partitions,
            counters: Mutex::new(CounterTable::new()),
            status: Mutex::new(None),
        })
    }

    pub fn count(&self, group: &str, name: &str, by: u64) {
        let mut counters = self.counters.lock().unwrap_or_else(|e| e.into_inner());
        *counters.entry((group.to_string(), name.to_string())).or_insert(0) += by;
    }
}
