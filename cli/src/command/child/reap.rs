//! `yunti reap`: kills the programs of a job whose process was killed.

use std::path::PathBuf;

use clap::Args;
use yunti_engine::env::process::reaper;

use crate::failure::Outcome;

/// Kill the programs of a job that was killed; a job with programs starts this
#[derive(Debug, Args)]
pub struct ReapFlags {
    /// Temporary directory of the programs, which is removed
    #[arg(long, value_name = "DIR")]
    directory: Option<PathBuf>,
}

pub fn reap(flags: &ReapFlags) -> Outcome {
    reaper::reap(std::io::stdin().lock());
    if let Some(directory) = &flags.directory {
        // Usually the job has removed it.
        let _ = std::fs::remove_dir_all(directory);
    }
    Ok(())
}
