//! `yunti capacity`: what a service can carry, what bounds it, and what a change would bring.

mod command;

use std::process::ExitCode;

use yunti_program::program;

fn main() -> ExitCode {
    program::run(command::act)
}
