//! `yunti host`: what the machine's own settings cost, and changes to them that can be undone.

mod bench;
mod change;
mod command;
mod scratch;

use std::process::ExitCode;

use yunti_program::program;

fn main() -> ExitCode {
    program::run(command::act)
}
