//! The commands, one file each.

mod bench;
mod make_spill;
mod settings;

use clap::{Parser, Subcommand};
use yunti_program::failure::Outcome;

/// The machine's own settings: what they cost, and changes to them that can be undone.
#[derive(Debug, Parser)]
#[command(name = "yunti host", version, about, long_about, max_term_width = 100, disable_help_subcommand = true)]
#[command(
    after_help = "Exit codes: 0 done, 2 usage, 3 no such setting or device, 5 output, 8 it is there already, 130 cancelled, 1 a bug."
)]
pub struct Flags {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Apply(settings::ApplyFlags),
    Bench(bench::BenchFlags),
    Journal(settings::JournalFlags),
    MakeSpill(make_spill::MakeSpillFlags),
    Settings(settings::SettingsFlags),
    Undo(settings::UndoFlags),
    /// Connections in a network namespace of their own, for `bench time-wait`.
    #[command(hide = true)]
    Churn(crate::bench::churn::ChurnFlags),
}

pub fn act(flags: Flags) -> Outcome {
    match flags.command {
        Command::Apply(flags) => settings::apply_one(&flags),
        Command::Bench(flags) => bench::bench(&flags),
        Command::Journal(flags) => settings::show_journal(&flags),
        Command::Settings(flags) => settings::settings(&flags),
        Command::Undo(flags) => settings::undo_some(&flags),
        Command::MakeSpill(flags) => make_spill::make_spill(&flags),
        Command::Churn(flags) => crate::bench::churn::churn(&flags),
    }
}
