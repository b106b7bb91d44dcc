//! Commands: the flags, output and run of each.

mod add;
mod daemon;
mod exchange;
mod list;
mod report;
mod run;
mod supervise;

use clap::{Parser, Subcommand};
use yunti_program::failure::Outcome;

use crate::store::{Store, default_folder};

/// Keep the gains of a service: its figures by day and release, and what changed
///
/// `add` names a service and a time of day. `daemon` measures each day, `run` measures now. `report` compares a
/// measurement with those before it, and names the functions and the release that made it worse.
#[derive(Debug, Parser)]
#[command(name = "yunti watch", version, about, long_about, max_term_width = 100, disable_help_subcommand = true)]
#[command(after_help = "Exit codes: 0 done, 2 usage, 3 no such watch, process or record, 4 damaged record, 5 output, \
    8 exists or another measurement runs, 9 worse (report --fail), 130 cancelled, 1 a bug.")]
pub struct Flags {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Add(add::AddFlags),
    Run(run::RunFlags),
    Report(report::ReportFlags),
    List(list::ListFlags),
    Remove(list::RemoveFlags),
    #[command(visible_alias = "serve")]
    Daemon(daemon::DaemonFlags),
    Export(exchange::ExportFlags),
    Import(exchange::ImportFlags),
    Repair(list::RepairFlags),
    Supervise(supervise::SuperviseFlags),
}

/// Runs the command that the flags name.
pub fn act(flags: Flags) -> Outcome {
    match flags.command {
        Command::Add(flags) => add::add(&flags),
        Command::Run(flags) => run::run(&flags),
        Command::Report(flags) => report::report(&flags),
        Command::List(flags) => list::list(&flags),
        Command::Remove(flags) => list::remove(&flags),
        Command::Daemon(flags) => daemon::daemon(&flags),
        Command::Export(flags) => exchange::export(&flags),
        Command::Import(flags) => exchange::import(&flags),
        Command::Repair(flags) => list::repair(&flags),
        Command::Supervise(flags) => supervise::supervise(&flags),
    }
}

/// Returns the store of this user.
fn store() -> Store {
    Store::at(default_folder())
}
