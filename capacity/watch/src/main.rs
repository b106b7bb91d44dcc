//! `yunti watch`: the figures of a service by day and release, and what changed.
//!
//! ```text
//!   command/ -> schedule/ -> collect/ -> record/ -> store/
//!           `-> report/   -> compare/ ---'
//! ```

mod clock;
mod collect;
mod command;
mod compare;
mod hook;
mod record;
mod report;
mod schedule;
mod store;

use std::process::ExitCode;

use yunti_program::program;

fn main() -> ExitCode {
    program::run(command::act)
}
