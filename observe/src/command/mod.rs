//! The commands, one file each, and what they have in common.

pub mod faults;
pub mod flame;
mod live;
pub mod locks;
pub mod native;
mod pattern;
pub mod slow;
pub mod trace;
pub mod why;

use std::time::Duration;

use clap::{Parser, Subcommand};
use yunti_base::whole_file;
use yunti_probe::options::AnswerFlags;
use yunti_program::failure::Outcome;

use crate::jvm::release::{self, Left};
use yunti_probe::answer::PAGE;
use yunti_probe::target::Process;

/// Why a process is slow, from Java method to kernel.
///
/// Looks at a process for some seconds, from outside, and says where its time goes. What this machine or these rights do not
/// allow is told as `SKIP feature: reason`, and the rest is done without it.
#[derive(Debug, Parser)]
#[command(name = "yunti observe", version, about, long_about, max_term_width = 100, disable_help_subcommand = true)]
#[command(
    after_help = "Exit codes: 0 done, 2 usage, 3 no such process or method, or not ours to look at, 5 output, 130 cancelled, 1 a bug."
)]
pub struct Flags {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Faults(faults::FaultsFlags),
    Flame(flame::FlameFlags),
    Locks(locks::LocksFlags),
    Native(native::NativeFlags),
    Slow(slow::SlowFlags),
    Trace(trace::TraceFlags),
    Why(why::WhyFlags),
    /// What an agent leaves in a process is taken away, whatever becomes of the one who started it.
    #[command(hide = true)]
    Release(Left),
}

impl Command {
    fn answer(&self) -> Option<&AnswerFlags> {
        Some(match self {
            Command::Faults(flags) => &flags.output.answer,
            Command::Flame(flags) => &flags.output.answer,
            Command::Locks(flags) => &flags.output.answer,
            Command::Native(flags) => &flags.output.answer,
            Command::Slow(flags) => &flags.output.answer,
            Command::Trace(flags) => &flags.output.answer,
            Command::Why(flags) => &flags.output.answer,
            Command::Release(_) => return None,
        })
    }
}

/// What is looked at, and how long.
#[derive(Clone, Copy)]
pub struct Look<'a> {
    pub process: &'a Process,
    pub is_jvm: bool,
    pub time: Duration,
}

pub fn act(flags: Flags) -> Outcome {
    // Before anything is looked at: a page that cannot be written is said at once.
    if let Some(path) = flags.command.answer().and_then(|answer| answer.output.as_deref()) {
        whole_file::check(path, PAGE)?;
    }
    match flags.command {
        Command::Faults(flags) => faults::faults(&flags),
        Command::Flame(flags) => flame::flame(&flags),
        Command::Locks(flags) => locks::locks(&flags),
        Command::Native(flags) => native::native(&flags),
        Command::Slow(flags) => slow::slow(&flags),
        Command::Trace(flags) => trace::trace(&flags),
        Command::Why(flags) => why::why(&flags),
        Command::Release(left) => release::wait_and_release(&left),
    }
}
