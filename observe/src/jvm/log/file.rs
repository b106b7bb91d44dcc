//! File that a JVM writes its log to during a measurement. It is in the folder that both processes reach.

use std::fs::{self, File};
use std::os::unix::fs::fchown;

use yunti_base::{Code, Error, Result};

use crate::jvm::attach::diagnose;
use crate::jvm::folder::Folder;
use crate::jvm::release::{Agent, LoadedAgent};
use yunti_probe::target::Process;

/// Log that the JVM is writing. Dropping it ends the log and removes the file; so does the guard of [`LoadedAgent`].
pub struct LogFile(LoadedAgent);

impl LogFile {
    /// Starts a log, which JVMs from 9 on can do.
    ///
    /// @param kind pauses or collections: logs of two kinds may run side by side
    /// @param what tags and levels as `VM.log` takes them
    pub fn start(process: &Process, kind: Agent, what: &str, decorators: &str) -> Result<LogFile> {
        let mut loaded = LoadedAgent::of(process, kind, None)?;
        let path = loaded.folder.path(&loaded.cleanup.pauses());
        let file = File::create_new(&path).map_err(|e| {
            Error::io(Code::Input, "cannot create the JVM's log file", &e).at_path(path.to_string_lossy())
        })?;
        if let Some((user, group)) = process.owner() {
            // Only root may give the file away; any other user observes a JVM of its own.
            let _ = fchown(&file, Some(user), Some(group));
        }
        let to = Folder::inside(&loaded.cleanup.pauses());
        // No second file, because nothing would remove it.
        diagnose(
            process,
            &format!("VM.log output={to} what={what} decorators={decorators} output_options=filecount=0"),
        )?;
        loaded.is_running = true;
        Ok(LogFile(loaded))
    }

    /// Returns the bytes written so far.
    pub fn bytes(&self) -> u64 {
        fs::metadata(self.0.folder.path(&self.0.cleanup.pauses())).map_or(0, |file| file.len())
    }

    /// Ends the log and returns it. The file is removed, and remains readable.
    pub fn stop(mut self) -> Result<File> {
        self.0.stop()?;
        File::open(self.0.folder.path(&self.0.cleanup.pauses()))
            .map_err(|e| Error::io(Code::Input, "the JVM's log file is gone", &e))
    }
}
