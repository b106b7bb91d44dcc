//! Commands: the flags, output and run of each.

mod answer;
mod load;
mod messages;
mod own_load;
mod process;
mod prove;
mod what_if;

use clap::{Parser, Subcommand};
use yunti_program::failure::Outcome;

use crate::prove::keeper::{self, KeepFlags, LaunchFlags};

/// Find out what a service can carry: its bottleneck, threads, requests per second
///
/// Measures the requests that are under way in a running service, and computes from them what bounds it, how many
/// threads it needs, and how many requests per second it can answer.
#[derive(Debug, Parser)]
#[command(name = "yunti capacity", version, about, long_about, max_term_width = 100)]
#[command(disable_help_subcommand = true, args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
#[command(
    after_help = "Exit codes: 0 done, 2 usage, 3 no such process or not enough data, 4 a damaged file, 5 output, \
    130 cancelled, 1 a bug."
)]
pub struct Flags {
    #[command(flatten)]
    answer: answer::AnswerFlags,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
enum Command {
    Load(load::LoadFlags),
    WhatIf(what_if::WhatIfFlags),
    Messages(messages::MessagesFlags),
    #[command(hide = true)]
    Keep(KeepFlags),
    #[command(hide = true)]
    Launch(LaunchFlags),
}

/// Runs the command that the flags name.
pub fn act(flags: Flags) -> Outcome {
    match flags.command {
        None => answer::answer(&flags.answer),
        Some(Command::Load(flags)) => load::load(&flags),
        Some(Command::WhatIf(flags)) => what_if::run(&flags),
        Some(Command::Messages(flags)) => messages::messages(&flags),
        Some(Command::Keep(flags)) => keeper::keep(&flags),
        Some(Command::Launch(flags)) => keeper::launch(&flags),
    }
}
