//! Flags of `yunti nn bench`.

use std::path::PathBuf;

use clap::Args;

use super::load_flags::{Scenario, seconds_or_none, some_seconds};
use crate::bench::variant;
use crate::rpc::wire::Io;

/// Start variants of a NameNode on this machine, load them in turn, and print medians and ratios to the first
#[derive(Debug, Args)]
#[command(after_help = format!("Variants:\n{}  NAME:KEY=VALUE,..  your own, also based on another: \
    mine:balanced,dfs.namenode.handler.count=50,-Xint", variant::about()))]
pub struct BenchFlags {
    /// Compare these variants; ratios are to the first
    #[arg(short, long, value_name = "NAMES", default_value = "stock unfair throughput balanced")]
    pub variants: String,
    /// Use this many connections; several numbers are measured one after another
    #[arg(
        short, long, value_name = "N,..", default_value = "100", value_delimiter = ',',
        value_parser = clap::value_parser!(u32).range(1..=10_000),
    )]
    pub connections: Vec<u32>,
    /// Load with this mix, as of yunti nn load; repeat it for several
    #[arg(short, long, value_name = "MIX", default_value = "getFileInfo=90,mkdirs=10")]
    pub mix: Vec<String>,
    /// Run this many rounds; each variant has one turn in a round
    #[arg(short, long, value_name = "N", default_value = "5", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub rounds: u32,
    /// Load for this time in each turn
    #[arg(short, long, value_name = "SECONDS", default_value = "5", value_parser = some_seconds)]
    pub seconds: f64,
    /// Load each variant for this time before the first round, so that its JVM compiles hot code
    #[arg(long, value_name = "SECONDS", default_value = "20", value_parser = seconds_or_none)]
    pub warm_up: f64,
    /// Send by this I/O method: epoll sends calls one by one, io_uring some twenty at once
    #[arg(long, value_enum, value_name = "WAY", default_value_t, conflicts_with = "scenario")]
    pub io: Io,
    /// Use this Hadoop installation or folder of jars; default: HADOOP_HOME, else a download by Maven
    #[arg(long, value_name = "DIR")]
    pub hadoop: Option<PathBuf>,
    /// Use this plug-in jar; default: beside the command
    #[arg(long, value_name = "JAR")]
    pub plugin: Option<PathBuf>,
    /// Limit each NameNode's heap, as java -Xmx
    #[arg(long, value_name = "SIZE", default_value = "1g")]
    pub heap: String,
    /// Set dfs.namenode.handler.count
    #[arg(long, value_name = "N", default_value = "150")]
    pub handlers: u32,
    /// Set ipc.server.read.threadpool.size
    #[arg(long, value_name = "N", default_value = "5")]
    pub readers: u32,
    /// Measure the proposals of 2012 in today's form, over RPC and in process: many call queues, SIMD UTF-8, logging
    /// out of the path, update lock, edit log outside the lock, all together
    #[arg(long, conflicts_with_all = ["variants", "mix"])]
    pub cures: bool,
    /// Run a named load in steps on one variant after the other, as of yunti nn load; --seconds is for a step, at
    /// least 25
    #[arg(long, value_name = "NAME", conflicts_with_all = ["cures", "mix", "connections", "rounds"])]
    pub scenario: Option<Scenario>,
    /// Set the DataNodes of the scenario's last step
    #[arg(
        long, value_name = "N", default_value = "3200", requires = "scenario",
        value_parser = clap::value_parser!(u32).range(1..=10_000),
    )]
    pub datanodes: u32,
    /// Save all figures to a JSON file
    #[arg(long, value_name = "FILE")]
    pub save: Option<PathBuf>,
    /// Print one JSON document
    #[arg(long)]
    pub json: bool,
}
