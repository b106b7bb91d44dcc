//! The directory of a query on the cluster: rows between its jobs, and the rows of the last. It is removed at the end,
//! whatever the end is; only a kill of this process leaves it.
//!
//! Hadoop's own client removes it: stores end outputs of this process alone.

use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

/// Directory below the user's home for all queries.
const ALL: &str = ".yunti-sql";

pub struct Directory {
    path: PathBuf,
    /// True once a job may have made it.
    is_used: AtomicBool,
}

impl Directory {
    /// Returns a directory that no other query has. The first job makes it.
    pub fn new(home: &str) -> Directory {
        let ns = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos());
        let name = format!("{ns:x}-{}", std::process::id());
        Directory { path: PathBuf::from(format!("{home}/{ALL}/{name}")), is_used: AtomicBool::new(false) }
    }

    /// Returns the output of a job.
    pub fn of_job(&self, number: usize) -> PathBuf {
        self.is_used.store(true, Ordering::Relaxed);
        self.path.join(number.to_string())
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        if !self.is_used.load(Ordering::Relaxed) {
            return;
        }
        let mut command = Command::new("hadoop");
        command.args(["fs", "-rm", "-r", "-f", "-skipTrash"]).arg(&self.path).stdin(Stdio::null());
        // Another ctrl-C does not end it.
        let failed = match command.process_group(0).output() {
            Ok(done) if done.status.success() => return,
            Ok(done) => String::from_utf8_lossy(&done.stderr).lines().last().unwrap_or_default().to_string(),
            Err(e) => e.to_string(),
        };
        eprintln!("yunti: cannot remove the directory of the query, {}: {failed}", self.path.display());
    }
}
