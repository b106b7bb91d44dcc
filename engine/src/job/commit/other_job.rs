//! State of another job that has the claim on an output, as an error or a status text.

use std::path::Path;

use super::holder::Holder;
use super::locked_directory::LockedDirectory;
use crate::env::System;
use yunti_base::{Code, Error};

/// Another job that has the claim.
pub(super) enum OtherJob {
    /// The claim is gone or has changed: try again.
    Gone,
    /// The job was dead, and this one has its directory with all files.
    TakenOver(Box<LockedDirectory>),
    Alive(Holder),
    /// Alive or dead: the lock cannot show it. The job counts as dead after this many more milliseconds without a
    /// change.
    Unknown(u64),
}

impl OtherJob {
    /// Returns the error `Exists` for a job that does not wait. `directory`: the directory of the claim on `output`.
    pub fn refuse(&self, output: &Path, directory: &Path) -> Error {
        let (what, hint) = match self {
            OtherJob::Unknown(left_ms) => (
                "another job is writing this output, or was killed: locks of this file system do not show which"
                    .to_string(),
                format!(
                    "wait for up to {} s with --wait, name another output, or remove {} if no job is running",
                    left_ms.div_ceil(1000),
                    directory.display()
                ),
            ),
            _ => {
                let name = self.name().map_or_else(String::new, |name| format!(" ({name})"));
                let hint = "wait for it with --wait, or name another output";
                (format!("another job{name} is writing this output"), hint.to_string())
            }
        };
        Error::new(Code::Exists, what).at_path(output.to_string_lossy()).hint(hint)
    }

    /// Returns true if the job's process has ended, as far as this process sees: its lock will be free in a moment.
    pub fn may_be_dying(&self, own: &Holder, system: &dyn System) -> bool {
        let is_gone = |pid: u32| !system.is_dir(&Path::new("/proc").join(pid.to_string()));
        matches!(self, OtherJob::Alive(holder) if holder.is_on_machine_of(own) && is_gone(holder.pid))
    }

    /// Returns the status text of a job that waits.
    pub fn status(&self) -> String {
        match self {
            OtherJob::Unknown(left_ms) => {
                let seconds = left_ms.div_ceil(1000);
                format!("waiting for the job that writes this output, or was killed: {seconds} s left")
            }
            _ => {
                let name = self.name().unwrap_or_else(|| "another job".into());
                format!("waiting for {name} (same output)")
            }
        }
    }

    fn name(&self) -> Option<String> {
        match self {
            OtherJob::Alive(holder) => holder.name(),
            _ => None,
        }
    }
}
