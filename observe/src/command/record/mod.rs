//! `yunti observe record`: profiles of services all day, kept in a store.

mod export;
mod import;
mod start;
mod status;
mod stop;

use clap::{Args, Subcommand};
use yunti_program::failure::Outcome;

/// Keep profiles of services all day, in slices
///
/// A recorder samples processor time, waits, allocations and locks of chosen services, at rates that cost less than one
/// percent of a processor. `yunti observe flame --at` and `yunti observe changes` read what it keeps.
#[derive(Debug, Args)]
pub struct RecordFlags {
    #[command(subcommand)]
    command: RecordCommand,
}

#[derive(Debug, Subcommand)]
enum RecordCommand {
    Start(start::StartFlags),
    Stop(stop::StopFlags),
    Status(status::StatusFlags),
    Export(export::ExportFlags),
    Import(import::ImportFlags),
}

pub fn record(flags: &RecordFlags) -> Outcome {
    match &flags.command {
        RecordCommand::Start(flags) => start::start(flags),
        RecordCommand::Stop(flags) => stop::stop(flags),
        RecordCommand::Status(flags) => status::status(flags),
        RecordCommand::Export(flags) => export::export(flags),
        RecordCommand::Import(flags) => import::import(flags),
    }
}
