//! `yunti machine`: `doctor` and `limits` run in this program, all other commands in the part `yunti-machine`.

use std::ffi::OsString;

use clap::{Args, Subcommand};
use yunti_doctor::DoctorFlags;
use yunti_program::part::Part;

use super::limits::{self, LimitsFlags};
use super::part;
use crate::failure::Outcome;
use crate::text::named_line;

/// Commands of the part `yunti-machine`, with their summaries.
const OF_THE_MACHINE: [(&str, &str); 11] = [
    ("settings", "List settings that matter to jobs and JVMs, with better values"),
    ("apply", "Change a setting, so that it can be undone"),
    ("undo", "Restore what was changed"),
    ("journal", "List the changes"),
    ("bench", "Measure what old and new settings cost"),
    ("make-spill", "Make and mount a file system for spills"),
    ("cache", "Page-cache contents, and the processes with misses"),
    ("cgroup", "Resources that control groups use and wait for"),
    ("net", "TCP: response times, full accept queues, ports in use"),
    ("ext4", "Use of blocks, I/O by file, a guard for failing disks"),
    ("crash", "Report crashes of this machine's processes and kernel"),
];

/// Check, measure and tune the machine under a job or service
///
/// Shows settings and limits with their cost on this machine, the page cache, control groups, TCP, file systems and
/// crashes. Only `apply`, `undo`, `make-spill`, `bench` and `ext4 guard` change the machine.
#[derive(Debug, Args)]
#[command(after_help = of_the_part(), disable_help_subcommand = true)]
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

pub fn machine(flags: MachineFlags, commands: &[String]) -> Outcome {
    match flags.command {
        MachineCommand::Doctor(flags) => yunti_doctor::doctor(&flags),
        MachineCommand::Limits(flags) => limits::limits(&flags),
        MachineCommand::Part(arguments) => {
            let arguments: Vec<OsString> = [OsString::from("machine")].into_iter().chain(arguments).collect();
            part::execute(&arguments, commands)
        }
    }
}

/// Returns the commands of `yunti machine` in the part, for its help.
fn of_the_part() -> String {
    let is_installed = Part::named("machine").is_some_and(|part| part.program().is_some());
    let missing = if is_installed { "" } else { " (missing: make observe)" };
    let lines = OF_THE_MACHINE.map(|(name, about)| named_line(12, name, about));
    format!("Measured from inside the kernel, and settings{missing}:\n{}", lines.concat())
}
