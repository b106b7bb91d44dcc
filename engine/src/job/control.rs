//! State that a job and its caller share while the job runs: cancellation and progress.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use crate::env::sync::Mutex;
use yunti_base::Cancel;

/// Progress of a running job at one moment.
#[derive(Clone, Debug, Default)]
pub struct Progress {
    pub stage: &'static str,
    /// Work done so far, in bytes of `total_bytes`.
    pub done_bytes: u64,
    /// Work of all stages together, in bytes; 0 if unknown.
    pub total_bytes: u64,
    pub records: u64,
    pub output_bytes: u64,
    pub status: Option<String>,
}

/// Names of `ProgressStage`, in its order.
const STAGES: [&str; 6] = ["start", "map", "sort", "merge", "reduce", "commit"];

/// Stages that progress shows, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProgressStage {
    Start,
    Map,
    Sort,
    Merge,
    Reduce,
    Commit,
}

/// Control of one job: cancels it from any thread, and counts its progress.
pub struct Control {
    cancel: Cancel,
    /// Bytes of memory that the job should keep to.
    memory_asked: AtomicU64,
    stage: AtomicUsize,
    done: AtomicU64,
    total: AtomicU64,
    pub records: AtomicU64,
    pub output_bytes: AtomicU64,
    status: Mutex<Option<String>>,
}

impl Default for Control {
    fn default() -> Control {
        Control {
            cancel: Cancel::default(),
            memory_asked: AtomicU64::new(u64::MAX),
            stage: AtomicUsize::default(),
            done: AtomicU64::default(),
            total: AtomicU64::default(),
            records: AtomicU64::default(),
            output_bytes: AtomicU64::default(),
            status: Mutex::default(),
        }
    }
}

impl Control {
    /// Returns a control for a job that has not begun.
    pub fn new() -> Arc<Control> {
        Arc::new(Control::default())
    }

    /// Asks the job to keep to `bytes` of memory from now on; `u64::MAX`: to its budget. Its workers follow within a
    /// part of a second, as long as they map.
    pub fn ask_for_memory(&self, bytes: u64) {
        self.memory_asked.store(bytes, Ordering::Relaxed);
    }
    /// Returns the bytes of the last `ask_for_memory`.
    pub fn memory_asked(&self) -> u64 {
        self.memory_asked.load(Ordering::Relaxed)
    }

    /// Requests the end of the job. The job returns an error of code `Cancelled` once its tasks notice.
    pub fn cancel(&self) {
        self.cancel.set();
    }
    /// Returns true after `cancel`.
    pub fn is_cancelled(&self) -> bool {
        self.cancel.is_set()
    }
    /// Returns the flag that tasks check.
    pub fn cancelled(&self) -> &Cancel {
        &self.cancel
    }

    /// Returns the progress at this moment.
    pub fn progress(&self) -> Progress {
        Progress {
            stage: STAGES[self.stage.load(Ordering::Relaxed)],
            done_bytes: self.done.load(Ordering::Relaxed),
            total_bytes: self.total.load(Ordering::Relaxed),
            records: self.records.load(Ordering::Relaxed),
            output_bytes: self.output_bytes.load(Ordering::Relaxed),
            status: self.status.lock().unwrap_or_else(|e| e.into_inner()).clone(),
        }
    }

    /// Notes that the job enters a stage.
    pub fn enter(&self, stage: ProgressStage) {
        self.stage.store(stage as usize, Ordering::Relaxed);
    }
    /// Begins to count a job of `bytes` of work, all stages together; 0 if unknown.
    pub fn expect(&self, bytes: u64) {
        self.total.store(bytes, Ordering::Relaxed);
        self.done.store(0, Ordering::Relaxed);
        self.records.store(0, Ordering::Relaxed);
        self.output_bytes.store(0, Ordering::Relaxed);
    }
    /// Adds `bytes` of done work. Returns all work done so far, in bytes.
    pub fn advance(&self, bytes: u64) -> u64 {
        self.done.fetch_add(bytes, Ordering::Relaxed) + bytes
    }
    /// Sets or clears the status text that progress shows.
    pub fn set_status(&self, text: Option<String>) {
        *self.status.lock().unwrap_or_else(|e| e.into_inner()) = text;
    }
}
