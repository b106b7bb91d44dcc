//! The text in a lock file: the process that holds a claim, for other jobs and their messages.

use std::path::Path;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::env::{File, NamedFile};
use yunti_base::process::ProcessName;
use yunti_base::{Code, Result};

/// Milliseconds between two beats of a job whose lock may not reach every process.
pub(super) const BEAT_MS: u64 = if cfg!(debug_assertions) { 100 } else { 15_000 };

/// Bytes of a lock file at most.
const TEXT_BYTES_MAX: usize = 4096;

/// The process that holds a claim.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Holder {
    /// Unique name of this claim.
    pub token: String,
    pub pid: u32,
    pub host: String,
    /// Id of the running kernel (`ProcessName::boot`).
    pub boot: String,
    /// True if the lock may not reach every process: the holder rewrites the file every `BEAT_MS`.
    pub beats: bool,
}

impl Holder {
    /// Returns a holder for a process.
    pub fn own(process: ProcessName, token: String, beats: bool) -> Holder {
        let ProcessName { pid, host, boot } = process;
        Holder { token, pid, host, boot, beats }
    }

    /// Reads an open lock file. After a power loss the file may be empty; then it names no process.
    pub fn read(file: Arc<dyn File>, path: &Path) -> Result<Holder> {
        let mut bytes = vec![0; TEXT_BYTES_MAX];
        let n = NamedFile::new(file, path, Code::Output).read_up_to(&mut bytes, 0)?;
        Ok(serde_json::from_slice(&bytes[..n]).unwrap_or_default())
    }

    /// Returns the contents of the lock file, as JSON.
    pub fn text(&self) -> Vec<u8> {
        serde_json::to_vec(self).unwrap_or_default()
    }

    /// Returns true if both run on one kernel.
    pub fn is_on_machine_of(&self, other: &Holder) -> bool {
        !self.boot.is_empty() && self.boot == other.boot
    }

    /// Returns the process as in `process 12 on host`; None if the file names no process.
    pub fn name(&self) -> Option<String> {
        (!self.host.is_empty()).then(|| format!("process {} on {}", self.pid, self.host))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn holder_survives_serialisation_and_default_names_no_process() {
        let holder = Holder::own(ProcessName::own(), yunti_base::process::unique_token(), true);
        assert_eq!(serde_json::from_slice::<Holder>(&holder.text()).unwrap(), holder);
        assert!(holder.text().len() < TEXT_BYTES_MAX);
        assert!(
            holder.is_on_machine_of(&Holder::own(ProcessName::own(), String::new(), false)) || holder.boot.is_empty()
        );
        assert!(!Holder::default().is_on_machine_of(&Holder::default()));
        assert_eq!(Holder::default().name(), None);
    }
}
