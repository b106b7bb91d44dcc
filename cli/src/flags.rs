//! The definition of the command line, from which parser, help, man pages and completions are made. Parsing has no
//! effects; `act` executes the command.

use std::ffi::OsString;

use clap::{CommandFactory, Parser, Subcommand};
use yunti_base::{Code, Error};
use yunti_engine::bytes::simd;
use yunti_program::terminal::{self, stdout};

use crate::command::child::reap::{self, ReapFlags};
use crate::command::child::sandboxed::{self, SandboxedFlags};
use crate::command::child::worker::{self, WorkerFlags};
use crate::command::columns::convert::{self, ConvertFlags};
use crate::command::generate::{self, GenerateFlags};
use crate::command::inspect::{self, InspectFlags};
use crate::command::limits::{self, LimitsFlags};
use crate::command::machine::{self, MachineFlags};
use crate::command::manual::{self, CompletionsFlags, HelpFlags, ManFlags};
use crate::command::part;
use crate::command::report::{self, ReportFlags};
use crate::command::run;
use crate::command::run::flags::RunFlags;
use crate::command::streaming::{self, StreamingFlags};
use crate::command::validate::{self, ValidateFlags};
use crate::failure::{self, Outcome};
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
    Streaming(Box<StreamingFlags>),
    Convert(Box<ConvertFlags>),
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
    #[command(hide = true)]
    Worker(WorkerFlags),
    #[command(hide = true)]
    Sandboxed(SandboxedFlags),
    #[command(hide = true)]
    Reap(ReapFlags),
    Help(HelpFlags),
    Completions(CompletionsFlags),
    Man(ManFlags),
    #[command(external_subcommand)]
    Part(Vec<OsString>),
}

/// Executes the command of the flags.
pub fn act(flags: Flags) -> Outcome {
    if !simd::mask_is_known() {
        let error = Error::new(Code::Usage, format!("{} is not an instruction set", simd::VARIABLE));
        return Err(error.hint("set it to plain, avx2 or avx512, or unset it").into());
    }
    let commands = || Flags::command().get_subcommands().map(|c| c.get_name().to_string()).collect::<Vec<_>>();
    match flags.command {
        Command::Run(flags) => run::run(*flags),
        Command::Streaming(flags) => streaming::streaming(*flags),
        Command::Convert(flags) => convert::convert(*flags),
        Command::Generate(flags) => generate::generate(&flags),
        Command::Validate(flags) => validate::validate(&flags),
        Command::Report(flags) => report::report(&flags),
        Command::Inspect(flags) => inspect::inspect(&flags),
        Command::Machine(flags) => machine::machine(flags, &commands()),
        Command::Worker(flags) => worker::worker(&flags),
        Command::Sandboxed(flags) => sandboxed::sandboxed(&flags),
        Command::Reap(flags) => reap::reap(&flags),
        Command::Help(flags) => help(&flags.command),
        Command::Limits(flags) => limits::limits(&flags),
        Command::Doctor(flags) => yunti_doctor::doctor(&flags),
        Command::Completions(flags) => manual::completions(flags.shell, Flags::command()),
        Command::Man(flags) => manual::man(&flags, Flags::command()),
        Command::Part(arguments) => part::execute(&arguments, &commands()),
    }
}

/// Runs `yunti X Y --help` for `yunti help X Y`, in the program that has the command.
fn help(words: &[OsString]) -> Outcome {
    let words = words.iter().cloned().chain([OsString::from("--help")]);
    match Flags::try_parse_from([OsString::from("yunti")].into_iter().chain(words)) {
        Ok(flags) => act(flags),
        Err(e) if !e.use_stderr() => stdout::print(&terminal::ansi_text(&e)),
        Err(e) => Err(failure::of_clap(&e).into()),
    }
}
