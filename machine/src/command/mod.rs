//! Commands, one file or folder each.

mod bench;
mod cache;
mod cgroup;
mod crash;
mod ext4;
mod make_spill;
mod net;
mod settings;

use clap::{Parser, Subcommand};
use yunti_base::whole_file;
use yunti_probe::answer::PAGE;
use yunti_probe::options::AnswerFlags;
use yunti_program::failure::Outcome;

/// The machine under a process: settings, page cache, control groups, TCP, file systems, crashes.
///
/// Prints `SKIP feature: reason` for each part that this machine or your permissions do not allow. `apply`, `undo`,
/// `make-spill`, `ext4 guard` and `bench` act; every other command only reads.
#[derive(Debug, Parser)]
#[command(name = "yunti machine", version, about, long_about, max_term_width = 100, disable_help_subcommand = true)]
#[command(
    after_help = "Exit codes: 0 done, 2 usage, 3 no such process, setting or device, 5 output, 8 it is there already, \
        130 cancelled, 1 a bug."
)]
pub struct Flags {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Apply(settings::ApplyFlags),
    Bench(bench::BenchFlags),
    Cache(cache::CacheFlags),
    Cgroup(cgroup::CgroupFlags),
    Crash(crash::CrashFlags),
    #[command(subcommand)]
    Ext4(ext4::Ext4Command),
    Journal(settings::JournalFlags),
    MakeSpill(make_spill::MakeSpillFlags),
    Net(net::NetFlags),
    Settings(settings::SettingsFlags),
    Undo(settings::UndoFlags),
    /// Open and close connections in a network namespace of its own, for `bench time-wait`
    #[command(hide = true)]
    Churn(crate::bench::churn::ChurnFlags),
}

impl Command {
    fn answer(&self) -> Option<&AnswerFlags> {
        match self {
            Command::Cache(flags) => Some(&flags.output.answer),
            Command::Cgroup(flags) => Some(&flags.output.answer),
            Command::Crash(flags) => Some(&flags.answer),
            Command::Ext4(command) => Some(command.answer()),
            Command::Net(flags) => Some(&flags.output.answer),
            _ => None,
        }
    }
}

/// Runs the command.
pub fn act(flags: Flags) -> Outcome {
    // An unwritable page fails before the measurement.
    if let Some(path) = flags.command.answer().and_then(|answer| answer.output.as_deref()) {
        whole_file::check(path, PAGE)?;
    }
    match flags.command {
        Command::Apply(flags) => settings::apply_one(&flags),
        Command::Bench(flags) => bench::bench(&flags),
        Command::Cache(flags) => cache::cache(&flags),
        Command::Cgroup(flags) => cgroup::cgroup(&flags),
        Command::Crash(flags) => crash::crash(&flags),
        Command::Ext4(command) => ext4::ext4(&command),
        Command::Net(flags) => net::net(&flags),
        Command::Journal(flags) => settings::show_journal(&flags),
        Command::Settings(flags) => settings::settings(&flags),
        Command::Undo(flags) => settings::undo_some(&flags),
        Command::MakeSpill(flags) => make_spill::make_spill(&flags),
        Command::Churn(flags) => crate::bench::churn::churn(&flags),
    }
}
