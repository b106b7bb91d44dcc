//! Commands: the flags, output and run of each.

mod load;

use clap::{Parser, Subcommand};
use yunti_program::failure::Outcome;

/// Find out what a service can carry: its bottleneck, threads, requests per second
#[derive(Debug, Parser)]
#[command(name = "yunti capacity", version, about, long_about, max_term_width = 100, disable_help_subcommand = true)]
#[command(
    after_help = "Exit codes: 0 done, 2 usage, 3 no such process or not enough data, 5 output, 130 cancelled, 1 a bug."
)]
pub struct Flags {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Load(load::LoadFlags),
}

/// Runs the command that the flags name.
pub fn act(flags: Flags) -> Outcome {
    match flags.command {
        Command::Load(flags) => load::load(&flags),
    }
}
