//! The command line as one value: parse, help, man pages and completions all come from here. Parsing never acts.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

use crate::command::doctor::DoctorFlags;
use crate::command::generate::GenerateFlags;
use crate::command::inspect::InspectFlags;
use crate::command::limits::LimitsFlags;
use crate::command::report::ReportFlags;
use crate::command::run::flags::RunFlags;
use crate::command::validate::ValidateFlags;

/// Data jobs at the speed of the machine they run on.
///
/// A job reads records, maps, sorts or groups, reduces and writes them, in the memory that it is given. Results go to
/// standard output or to a directory that appears whole or not at all; progress and errors go to standard error.
#[derive(Debug, Parser)]
#[command(name = "yunti", version, about, long_about, max_term_width = 100, disable_help_subcommand = true)]
#[command(after_help = "Exit codes: 0 done, 2 usage, 3 input, 4 corrupt data, 5 output, 6 class library, 7 memory, \
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
    Limits(LimitsFlags),
    Doctor(DoctorFlags),
    Completions(CompletionsFlags),
    Man(ManFlags),
    #[command(external_subcommand)]
    Part(Vec<OsString>),
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
