//! Commands: the flags, output and run of each.

use clap::Parser;
use yunti_program::failure::Outcome;

/// Keep the gains of a service: its figures by day and release, and what changed
#[derive(Debug, Parser)]
#[command(name = "yunti watch", version, about, max_term_width = 100, disable_help_subcommand = true)]
pub struct Flags {}

/// Runs the command that the flags name.
pub fn act(_: Flags) -> Outcome {
    Ok(())
}
