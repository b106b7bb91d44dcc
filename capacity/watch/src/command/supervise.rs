//! `yunti watch supervise`: runs a program that ends with this one. Measurements start it; it is no command for users.

use std::process::Command;
use std::time::Duration;

use clap::Args;
use yunti_base::{Code, Error};
use yunti_program::failure::Outcome;

use crate::collect::{GRACE, supervise as run};

/// Run a program until its time is over or the standard input closes
#[derive(Debug, Args)]
#[command(hide = true)]
pub struct SuperviseFlags {
    /// Longest time of the program
    #[arg(long)]
    seconds: f64,
    /// Program and its arguments
    #[arg(last = true, required = true)]
    words: Vec<std::ffi::OsString>,
}

/// Runs the command. The exit code is the program's own.
pub fn supervise(flags: &SuperviseFlags) -> Outcome {
    let [program, arguments @ ..] = &flags.words[..] else { return Ok(()) };
    let mut command = Command::new(program);
    command.args(arguments);
    let time =
        Duration::try_from_secs_f64(flags.seconds).map_err(|e| Error::new(Code::Usage, format!("--seconds: {e}")))?;
    let code = run(command, time, GRACE, std::io::stdin())
        .map_err(|e| Error::io(Code::Input, "cannot start a program", &e).at_path(program.to_string_lossy()))?;
    std::process::exit(i32::from(code))
}
