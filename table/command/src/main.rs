//! `yunti table`: builds, reads, checks and compares shared tables.

mod command;

use std::process::ExitCode;

use yunti_program::program;

fn main() -> ExitCode {
    program::run(command::act)
}
