//! What a job and its caller share while it runs: the wish to stop, and how far it is.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use yunti_base::Cancel;

#[derive(Clone, Debug, Default)]
pub struct Progress {
    pub stage: &'static str,
    /// Of `total_bytes`: the work of all stages weighed together, so that it ends when the job does.
    pub done_bytes: u64,
    /// 0: unknown.
    pub total_bytes: u64,
    pub records: u64,
    pub output_bytes: u64,
    pub status: Option<String>,
}

const STAGES: [&str; 6] = ["start", "map", "sort", "merge", "reduce", "commit"];

/// The stages that progress shows, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProgressStage {
    Start,
    Map,
    Sort,
    Merge,
    Reduce,
    Commit,
}

#[derive(Default)]
pub struct Control {
    cancel: Cancel,
    stage: AtomicUsize,
    done: AtomicU64,
    total: AtomicU64,
    pub records: AtomicU64,
    pub output_bytes: AtomicU64,
    status: Mutex<Option<String>>,
}

impl Control {
    pub fn new() -> Arc<Control> {
        Arc::new(Control::default())
    }

    /// Asks the job to end. It returns an error of code `Cancelled` once its tasks have seen it.
    pub fn cancel(&self) {
        self.cancel.set();
    }
    pub fn is_cancelled(&self) -> bool {
        self.cancel.is_set()
    }
    pub fn cancelled(&self) -> &Cancel {
        &self.cancel
    }

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

    pub fn enter(&self, stage: ProgressStage) {
        self.stage.store(stage as usize, Ordering::Relaxed);
    }
    /// The job begins, and all its stages together have `bytes` to go through.
    pub fn expect(&self, bytes: u64) {
        self.total.store(bytes, Ordering::Relaxed);
        self.done.store(0, Ordering::Relaxed);
        self.records.store(0, Ordering::Relaxed);
        self.output_bytes.store(0, Ordering::Relaxed);
    }
    /// Returns how much is done with it.
    pub fn advance(&self, bytes: u64) -> u64 {
        self.done.fetch_add(bytes, Ordering::Relaxed) + bytes
    }
    pub fn set_status(&self, text: Option<String>) {
        *self.status.lock().unwrap_or_else(|e| e.into_inner()) = text;
    }
}
