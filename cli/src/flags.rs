//! The command line as one value: parse, help, man pages and completions all come from here. Parsing never acts.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

use crate::command::generate::GenerateFlags;
use crate::command::inspect::InspectFlags;
use crate::command::limits::LimitsFlags;
use crate::command::report::ReportFlags;
use crate::command::run::flags::RunFlags;
use crate::command::validate::ValidateFlags;
use crate::help;
use yunti_doctor::DoctorFlags;

/// Data jobs and JVM services at the speed of the machine: find the bottleneck, remove it, prove it.
#[derive(Debug, Parser)]
#[command(name = "yunti", version, about, long_about, max_term_width = 100, disable_help_subcommand = true)]
#[command(help_template = help::template(), after_help = "Exit codes: 0 done, 2 usage, 3 input, 4 corrupt data, 5 output, 6 class library, 7 memory, \
                        8 output exists, 9 invalid data, 130 cancelled, 1 a bug.")]
pub struct Flags {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    Run(Box<RunFlags>),
    Generate(GenerateFlags),
    Validate(ValidateFlags),
    Report(ReportFlags),
    Inspect(InspectFlags),
    Machine(MachineFlags),
    /// The old spelling of `machine limits`.
    #[command(hide = true)]
    Limits(LimitsFlags),
    /// The old spelling of `machine doctor`.
    #[command(hide = true)]
    Doctor(DoctorFlags),
    Help(HelpFlags),
    Completions(CompletionsFlags),
    Man(ManFlags),
    #[command(external_subcommand)]
    Part(Vec<OsString>),
}

/// Check, measure and tune the machine under a job or service
///
/// Settings and limits with what they cost here, the page cache, control groups, TCP, file systems, crashes. Only `apply`, `undo`,
/// `make-spill`, `bench` and `ext4 guard` change anything.
#[derive(Debug, Args)]
#[command(after_help = help::of_the_machine(), disable_help_subcommand = true)]
pub struct MachineFlags {
    #[command(subcommand)]
    pub command: MachineCommand,
}

#[derive(Debug, Subcommand)]
pub enum MachineCommand {
    Doctor(DoctorFlags),
    Limits(LimitsFlags),
    #[command(external_subcommand)]
    Part(Vec<OsString>),
}

/// Print the help of a command
#[derive(Debug, Args)]
pub struct HelpFlags {
    /// The command: `run`, or `machine cache`
    pub command: Vec<OsString>,
}

/// Print the completions of a shell
///
/// The script completes yunti's commands and flags; the shell reads it at its start.
#[derive(Debug, Args)]
pub struct CompletionsFlags {
    #[arg(value_enum)]
    pub shell: clap_complete::Shell,
}

/// Print a manual page
///
/// The page of yunti, or of one of its commands, in roff: `yunti man run | man -l -`.
#[derive(Debug, Args)]
pub struct ManFlags {
    /// The command; without one, the page of yunti itself
    pub command: Option<String>,
    /// Write the pages of all commands into this directory
    #[arg(long, value_name = "DIR", conflicts_with = "command")]
    pub dir: Option<PathBuf>,
}
