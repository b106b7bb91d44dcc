//! Uploads that were begun: when the engine is gone, they are ended.

use std::collections::BTreeSet;
use std::sync::Mutex;

/// Uploads of the process, by address and number.
#[derive(Default)]
pub struct Uploads(Mutex<BTreeSet<(String, String)>>);

impl Uploads {
    pub fn begin(&self, url: &str, upload: &str) {
        self.lock().insert((url.into(), upload.into()));
    }

    pub fn end(&self, url: &str, upload: &str) {
        self.lock().remove(&(url.into(), upload.into()));
    }

    /// Removes and returns all.
    pub fn take(&self) -> Vec<(String, String)> {
        std::mem::take(&mut *self.lock()).into_iter().collect()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, BTreeSet<(String, String)>> {
        self.0.lock().unwrap_or_else(|e| e.into_inner())
    }
}
