//! Flags of a replay, part of `yunti nn load`.

use std::path::PathBuf;

use clap::Args;

/// Replay of an audit log.
#[derive(Clone, Debug, Default, Args)]
pub struct ReplayFlags {
    /// Replay this audit log, plain or gzip, at the times of its lines; repeat it for rotated files, in any order
    #[arg(
        long, value_name = "FILE",
        conflicts_with_all = ["mix", "rate", "warm_up", "files", "datanodes", "threads", "scenario", "plot", "history"],
    )]
    pub replay: Vec<PathBuf>,
    /// Create this name space before the replay: XML of an fsimage, plain or gzip, as of hdfs oiv -p XML; without it
    /// the paths that the log finds exist
    #[arg(long, value_name = "FILE", requires = "replay")]
    pub image: Option<PathBuf>,
    /// Replay the log this many times as fast
    #[arg(long, value_name = "FACTOR", default_value = "1", value_parser = speed, requires = "replay")]
    pub speed: f64,
}

fn speed(text: &str) -> std::result::Result<f64, String> {
    match text.parse::<f64>() {
        Ok(speed) if (0.001..=1_000_000.0).contains(&speed) => Ok(speed),
        _ => Err(format!("'{text}' is not a speed; give a factor from 0.001 to 1000000, such as 2")),
    }
}
