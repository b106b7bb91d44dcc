//! Flags of `yunti nn load`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};

use super::replay::flags::ReplayFlags;
use crate::load::mix::Mix;
use crate::rpc::wire::Io;

/// Load a NameNode over many connections and report throughput, latencies and processor time
#[derive(Clone, Debug, Args)]
pub struct LoadFlags {
    /// Load this NameNode; the RPC address, as in fs.defaultFS
    #[arg(value_name = "HOST:PORT", default_value = "127.0.0.1:8020")]
    pub namenode: String,
    /// Choose operations by these weights: null, getFileInfo, getListing, getBlockLocations, contentSummary, mkdirs,
    /// create, rename, delete, setPermission
    #[arg(short, long, value_name = "MIX", default_value = "getFileInfo=90,mkdirs=10", value_parser = Mix::parse)]
    pub mix: Mix,
    /// Use this many connections; each is a separate client; a replay has at least one for each user
    #[arg(
        short, long, value_name = "N", default_value = "100",
        value_parser = clap::value_parser!(u32).range(1..=10_000),
    )]
    pub connections: u32,
    /// Start this many operations a second at random times (open loop); without it each connection sends its next call
    /// after the response to the last (closed loop)
    #[arg(short, long, value_name = "PER SECOND", value_parser = rate)]
    pub rate: Option<f64>,
    /// Measure for this time; 0: until ctrl-C, which then ends it with exit code 0; default: 10, and with --replay
    /// until the log ends
    #[arg(short, long, value_name = "SECONDS", value_parser = seconds)]
    pub seconds: Option<Duration>,
    /// Load for this time before the measurement
    #[arg(long, value_name = "SECONDS", default_value = "2", value_parser = seconds)]
    pub warm_up: Duration,
    /// Read this many files; the run creates them if they are missing
    #[arg(
        long, value_name = "N", default_value = "10000",
        value_parser = clap::value_parser!(u64).range(1..=100_000_000),
    )]
    pub files: u64,
    /// Add this many DataNodes that register, send heartbeats and report blocks; files then have a block
    #[arg(long, value_name = "N", default_value = "0", value_parser = clap::value_parser!(u32).range(0..=10_000))]
    pub datanodes: u32,
    /// Report all blocks of each DataNode with this period; default: once, at the start
    #[arg(long, value_name = "SECONDS", value_parser = seconds, requires = "datanodes")]
    pub block_reports: Option<Duration>,
    /// Read the NameNode's metrics from this web server (dfs.namenode.http-address); default: port 9870 of its host
    #[arg(long, value_name = "HOST:PORT")]
    pub jmx: Option<String>,
    /// Use this many client threads
    #[arg(long, value_name = "N", default_value = "1", value_parser = clap::value_parser!(u32).range(1..=64))]
    pub threads: u32,
    /// Use this I/O method
    #[arg(long, value_enum, value_name = "WAY", default_value_t)]
    pub io: Io,
    /// Call as this user; security is SIMPLE
    #[arg(long, value_name = "NAME", default_value_t = user())]
    pub user: String,
    /// Seed the random choices
    #[arg(long, value_name = "N", default_value = "1")]
    pub seed: u64,
    /// Run a named load in steps, for some minutes; --datanodes sets the size of the last step
    #[arg(long, value_name = "NAME", conflicts_with_all = ["mix", "rate", "connections", "plot", "history"])]
    pub scenario: Option<Scenario>,
    /// Write an HTML page of throughput and latencies over time
    #[arg(long, value_name = "FILE")]
    pub plot: Option<PathBuf>,
    /// Write the outcome of each change to a file, and keep the files that the run created: the state after a crash
    #[arg(long, value_name = "FILE")]
    pub history: Option<PathBuf>,
    /// Print one JSON document
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub replay: ReplayFlags,
}

impl LoadFlags {
    /// Returns the time to measure; without one, it ends by a signal.
    pub fn time(&self) -> Duration {
        match self.seconds {
            None => SECONDS,
            Some(Duration::ZERO) => UNTIL_A_SIGNAL,
            Some(time) => time,
        }
    }

    /// Returns true if only a signal ends the measurement.
    pub fn is_endless(&self) -> bool {
        self.seconds.is_some_and(|time| time.is_zero())
    }
}

const SECONDS: Duration = Duration::from_secs(10);
/// A time that never passes; sums with it do not overflow.
const UNTIL_A_SIGNAL: Duration = Duration::from_secs(u32::MAX as u64);

fn user() -> String {
    std::env::var("HADOOP_USER_NAME").or_else(|_| std::env::var("USER")).unwrap_or_else(|_| "root".to_owned())
}

fn rate(text: &str) -> std::result::Result<f64, String> {
    match text.parse::<f64>() {
        Ok(rate) if rate > 0.0 && rate <= 10_000_000.0 => Ok(rate),
        _ => Err(format!("'{text}' is not a rate; give operations a second, such as 15000")),
    }
}

const SECONDS_MAX: f64 = 86_400.0;

fn seconds(text: &str) -> std::result::Result<Duration, String> {
    match text.parse::<f64>() {
        Ok(seconds) if (0.0..=SECONDS_MAX).contains(&seconds) => Ok(Duration::from_secs_f64(seconds)),
        _ => Err(format!("'{text}' is not a number of seconds; give 0 to {SECONDS_MAX}")),
    }
}

/// Parses seconds above 0.
pub fn some_seconds(text: &str) -> std::result::Result<f64, String> {
    match text.parse::<f64>() {
        Ok(seconds) if seconds > 0.0 && seconds <= SECONDS_MAX => Ok(seconds),
        _ => Err(format!("'{text}' is not a number of seconds above 0; give up to {SECONDS_MAX}")),
    }
}

/// Parses seconds from 0.
pub fn seconds_or_none(text: &str) -> std::result::Result<f64, String> {
    seconds(text).map(|time| time.as_secs_f64())
}

/// A named load.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Scenario {
    /// The cluster of 2012: 3,200 DataNodes, 15,000 operations and heartbeats a second; first an eighth, then doubled
    /// three times
    Yunti,
}
