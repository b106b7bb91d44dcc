//! `yunti watch`: the figures of a service by day and release, and what changed.

mod command;

use std::process::ExitCode;

use yunti_program::program;

fn main() -> ExitCode {
    program::run(command::act)
}
