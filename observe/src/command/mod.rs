//! The subcommands, one file each, and the type that they share.

pub mod changes;
pub mod faults;
pub mod flame;
pub mod gc;
pub mod heap;
mod live;
pub mod locks;
pub mod native;
mod pattern;
pub mod record;
pub mod slow;
pub mod trace;
pub mod why;

use std::time::Duration;

use clap::{Parser, Subcommand};
use yunti_base::whole_file;
use yunti_probe::options::AnswerFlags;
use yunti_program::failure::Outcome;

use crate::demands::{DemandsFlags, demands};
use crate::jvm::release::{self, Cleanup};
use crate::runtime::node;
use yunti_probe::answer::PAGE;
use yunti_probe::target::Process;

/// Show why a process is slow, from Java method to kernel.
///
/// Measures a process for some seconds from outside, and shows where its time goes. A feature that this machine or
/// these privileges do not allow is reported as `SKIP feature: reason`; the rest works without it.
#[derive(Debug, Parser)]
#[command(name = "yunti observe", version, about, long_about, max_term_width = 100, disable_help_subcommand = true)]
#[command(
    after_help = "Exit codes: 0 done, 2 usage, 3 no such process, method or file, or no permission to observe it, 4 a damaged \
         file, 5 output, 8 a recorder runs already, 9 `changes --fail` found one, 130 cancelled, 1 a bug."
)]
pub struct Flags {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Changes(changes::ChangesFlags),
    Demands(DemandsFlags),
    Faults(faults::FaultsFlags),
    Flame(flame::FlameFlags),
    Gc(gc::GcFlags),
    Heap(heap::HeapFlags),
    Locks(locks::LocksFlags),
    Native(native::NativeFlags),
    Record(record::RecordFlags),
    Slow(slow::SlowFlags),
    Trace(trace::TraceFlags),
    Why(why::WhyFlags),
    /// Stop an agent in a process and remove its files if the observer ends without doing so
    #[command(hide = true)]
    Release(Cleanup),
    /// Close the inspector of a Node.js process that opens after a measurement
    #[command(hide = true)]
    CloseInspector {
        pid: u32,
        started: u64,
    },
}

impl Command {
    fn answer(&self) -> Option<&AnswerFlags> {
        Some(match self {
            Command::Changes(flags) => &flags.answer,
            Command::Demands(flags) => &flags.output.answer,
            Command::Faults(flags) => &flags.output.answer,
            Command::Flame(flags) => &flags.output.answer,
            Command::Gc(flags) => &flags.answer,
            Command::Heap(flags) => &flags.answer,
            Command::Locks(flags) => &flags.output.answer,
            Command::Native(flags) => &flags.output.answer,
            Command::Slow(flags) => &flags.output.answer,
            Command::Trace(flags) => &flags.output.answer,
            Command::Why(flags) => &flags.output.answer,
            Command::Record(_) | Command::Release(_) | Command::CloseInspector { .. } => return None,
        })
    }
}

/// A measurement: of which process, and how long.
#[derive(Clone, Copy)]
pub struct Measurement<'a> {
    pub process: &'a Process,
    pub is_jvm: bool,
    pub time: Duration,
}

pub fn act(flags: Flags) -> Outcome {
    // First, so that a page that cannot be written fails before the measurement.
    if let Some(path) = flags.command.answer().and_then(|answer| answer.output.as_deref()) {
        whole_file::check(path, PAGE)?;
    }
    match flags.command {
        Command::Changes(flags) => changes::changes(&flags),
        Command::Demands(flags) => demands(&flags),
        Command::Faults(flags) => faults::faults(&flags),
        Command::Flame(flags) => flame::flame(&flags),
        Command::Gc(flags) => gc::gc(&flags),
        Command::Heap(flags) => heap::heap(&flags),
        Command::Locks(flags) => locks::locks(&flags),
        Command::Native(flags) => native::native(&flags),
        Command::Record(flags) => record::record(&flags),
        Command::Slow(flags) => slow::slow(&flags),
        Command::Trace(flags) => trace::trace(&flags),
        Command::Why(flags) => why::why(&flags),
        Command::CloseInspector { pid, started } => {
            let process = Process::of(pid)?;
            if process.is_same(started) {
                node::close_late(&process);
            }
            Ok(())
        }
        Command::Release(cleanup) => release::wait_and_release(&cleanup),
    }
}
