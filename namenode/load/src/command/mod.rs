//! The commands, one file each.

mod advise;
mod bench;
mod clusters;
mod cures;
mod load;
mod plot;
mod scenario;
mod told;

use clap::{Parser, Subcommand};
use yunti_program::failure::Outcome;

/// What load an HDFS NameNode takes.
///
/// Speaks Hadoop's RPC itself, from one thread and some kilobytes a connection, so that it is the NameNode that is measured.
#[derive(Debug, Parser)]
#[command(name = "yunti nn", version, about, long_about, max_term_width = 100, disable_help_subcommand = true)]
#[command(after_help = "Exit codes: 0 done, 2 usage, 3 no NameNode, or it refuses, 5 output, 130 cancelled, 1 a bug.")]
pub struct Flags {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Load(load::LoadFlags),
    Advise(advise::AdviseFlags),
    Bench(bench::BenchFlags),
}

pub fn act(flags: Flags) -> Outcome {
    match flags.command {
        Command::Load(flags) if flags.scenario.is_some() => scenario::run(&flags),
        Command::Load(flags) => load::load(&flags),
        Command::Advise(flags) => advise::advise(&flags),
        Command::Bench(flags) => bench::bench(&flags),
    }
}
