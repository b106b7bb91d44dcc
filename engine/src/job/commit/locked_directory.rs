//! A directory that a job has locked: of its claim, or before the claim has its name.

use std::path::PathBuf;
use std::sync::Arc;

use super::holder::Holder;
use crate::env::{File, Heartbeat};

/// A directory with a lock file, made by this job.
pub(super) struct LockedDirectory {
    pub directory: PathBuf,
    /// The open lock file, which keeps the lock.
    pub file: Arc<dyn File>,
    pub holder: Holder,
    /// Beats while the directory is held, if its lock may not reach every process.
    pub _heartbeat: Option<Heartbeat>,
}
