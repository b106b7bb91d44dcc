//! `yunti host`: what the machine's own settings cost, and changes to them that can be undone.

mod command;

use std::process::ExitCode;

use yunti_present::program;

fn main() -> ExitCode {
    program::run(command::act)
}
