//! The directory of a query on the cluster: rows between its jobs, and the rows of the last. It is removed at the end,
//! whatever the end is; only a kill of this process leaves it.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use yunti_engine::env::Files;

/// Directory below the user's home for all queries.
const ALL: &str = ".yunti-sql";

pub struct Directory {
    path: PathBuf,
    files: Arc<dyn Files>,
}

impl Directory {
    /// Returns a directory that no other query has. The first job makes it.
    pub fn new(home: &str, files: &Arc<dyn Files>) -> Directory {
        let ns = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos());
        let name = format!("{ns:x}-{}", std::process::id());
        Directory { path: PathBuf::from(format!("{home}/{ALL}/{name}")), files: files.clone() }
    }

    /// Returns the output of a job.
    pub fn of_job(&self, number: usize) -> PathBuf {
        self.path.join(number.to_string())
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        match self.files.remove_dir_all(&self.path) {
            Ok(()) => {}
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => {}
            Err(e) => eprintln!("yunti: cannot remove the directory of the query, {}: {e}", self.path.display()),
        }
    }
}
