//! `yunti watch daemon`: measures each watch at its time of day.

use clap::Args;
use yunti_base::{Cancel, Code, Result};
use yunti_program::failure::Outcome;
use yunti_program::terminal::signals::cancel_on_signals;

use super::store;
use crate::clock::minute;
use crate::collect::Installed;
use crate::report::text;
use crate::schedule::{self, Measured};

/// Measure all watches at their times of day, until a signal
///
/// It opens no port. A time that the machine slept through is made up for once. Its output has a line a measurement.
#[derive(Debug, Args)]
pub struct DaemonFlags {
    /// Measure what is due now, and end: for cron and timers
    #[arg(long)]
    once: bool,
}

/// Runs the command.
pub fn daemon(flags: &DaemonFlags) -> Outcome {
    let cancel = Cancel::default();
    cancel_on_signals(&cancel);
    let ended = schedule::run(&store(), &Installed, flags.once, &cancel, &mut say);
    match ended {
        // A signal is the usual end.
        Err(e) if e.code() == Code::Cancelled => Ok(()),
        ended => Ok(ended?),
    }
}

fn say(name: &str, result: &Result<Measured>) {
    match result {
        Ok(measured) => {
            let head = &measured.record.head;
            let state = head.state.name();
            eprintln!("{} {state}: {}", minute(head.time_ms), text::headline(name, &measured.comparison));
            head.notes.iter().chain(&measured.hook_failure).for_each(|note| eprintln!("    {name}: {note}"));
        }
        Err(e) => eprintln!("yunti: {name}: {e}"),
    }
}
