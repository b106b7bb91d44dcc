//! `yunti reap`: kills the programs of a job whose process was killed.

use clap::Args;
use yunti_engine::env::process::reaper;

use crate::failure::Outcome;

/// Kill the programs of a job that was killed; a job with programs starts this
#[derive(Debug, Args)]
pub struct ReapFlags {}

pub fn reap(_: &ReapFlags) -> Outcome {
    reaper::reap(std::io::stdin().lock());
    Ok(())
}
