//! `yunti machine`: the machine under a process.
//!
//! ```text
//!   flags -> command/   one file or folder a command
//!              |-> change/    settings: applied and undone, with a journal
//!              |-> bench/     what settings cost, old against new
//!              |-> scratch/   file systems in images, for bench
//!              `-> crash/     crash reports and their delivery
//! ```
//!
//! `doctor` and `limits` need none of this and are commands of `yunti` itself (`doctor/`, a library).

mod bench;
mod change;
mod command;
mod crash;
mod scratch;

use std::process::ExitCode;

use yunti_program::program;

fn main() -> ExitCode {
    program::run(command::act)
}
