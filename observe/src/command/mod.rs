//! The commands, one file each, and what they have in common.

pub mod flame;
mod options;
mod stopping;

use clap::{Parser, Subcommand};
use yunti_present::failure::Outcome;

use crate::jvm::release::{self, Left};

/// Why a process is slow, from Java method to kernel.
///
/// Looks at a process for some seconds, from outside, and says where its time goes. What this machine or these rights do not
/// allow is told as `SKIP feature: reason`, and the rest is done without it.
#[derive(Debug, Parser)]
#[command(name = "yunti observe", version, about, long_about, max_term_width = 100, disable_help_subcommand = true)]
#[command(
    after_help = "Exit codes: 0 done, 2 usage, 3 no such process or not ours to look at, 5 output, 130 cancelled, 1 a bug."
)]
pub struct Flags {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Flame(flame::FlameFlags),
    /// What a profiler leaves in a process is taken away, whatever becomes of the one who started it.
    #[command(hide = true)]
    Release(Left),
}

pub fn act(flags: Flags) -> Outcome {
    match flags.command {
        Command::Flame(flags) => flame::flame(&flags),
        Command::Release(left) => release::wait_and_release(&left),
    }
}
