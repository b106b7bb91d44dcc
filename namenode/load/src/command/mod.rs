//! Commands: the flags, output and run of each.

mod advise;
mod bench;
mod bench_flags;
mod clusters;
mod cures;
mod load;
mod load_flags;
mod plot;
mod replay;
mod report;
mod rows;
mod scenario;

use clap::{Parser, Subcommand};
use yunti_program::failure::Outcome;

/// Load an HDFS NameNode, advise changes to its settings, and compare variants.
///
/// The client implements Hadoop's RPC itself, with one thread and some kilobytes a connection, so that the run
/// measures the NameNode and not the client.
#[derive(Debug, Parser)]
#[command(name = "yunti nn", version, about, long_about, max_term_width = 100, disable_help_subcommand = true)]
#[command(after_help = "Exit codes: 0 done, 2 usage, 3 no NameNode or it refuses, 5 output, 130 cancelled, 1 a bug.")]
pub struct Flags {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Load(load_flags::LoadFlags),
    Advise(advise::AdviseFlags),
    Bench(bench_flags::BenchFlags),
}

/// Runs the command that the flags name.
pub fn act(flags: Flags) -> Outcome {
    match flags.command {
        Command::Load(flags) if flags.scenario.is_some() => scenario::run(&flags),
        Command::Load(flags) if !flags.replay.replay.is_empty() => replay::run::run(&flags),
        Command::Load(flags) => load::load(&flags),
        Command::Advise(flags) => advise::advise(&flags),
        Command::Bench(flags) => bench::bench(&flags),
    }
}
