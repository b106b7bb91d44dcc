//! Commands: the flags, output and run of each.

mod apply;
mod check;
mod check_report;
mod env;
mod flags;
mod record;

use clap::{Parser, Subcommand};
use yunti_program::failure::Outcome;

/// Start a JVM service warm: its classes from an archive, its code compiled before the first client.
///
/// `record` runs the program once and keeps what a start needs. `apply` starts it with that. `check` compares starts
/// with and without it.
#[derive(Debug, Parser)]
#[command(name = "yunti warmup", version, about, long_about, max_term_width = 100, disable_help_subcommand = true)]
#[command(
    after_help = "Exit codes: 0 done, 2 usage, 3 no profile or no answer, 4 damaged profile, 5 output, 9 not used, \
    130 cancelled, 1 a bug. With apply, the program's own."
)]
pub struct Flags {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Record(record::RecordFlags),
    Apply(apply::ApplyFlags),
    Check(check::CheckFlags),
    Env(env::EnvFlags),
}

/// Runs the command that the flags name.
pub fn act(flags: Flags) -> Outcome {
    match flags.command {
        Command::Record(flags) => record::record(&flags),
        Command::Apply(flags) => apply::apply(&flags),
        Command::Check(flags) => check::check(&flags),
        Command::Env(flags) => env::env(&flags),
    }
}
