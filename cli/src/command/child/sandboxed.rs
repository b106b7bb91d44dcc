//! `yunti sandboxed`: enters the sandbox of user code and becomes another program.

use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;

use clap::Args;
use yunti_base::{Code, Error};

use super::restrictions;
use crate::console::stdout;
use crate::failure::Outcome;

/// Enter the sandbox of user code, and execute a program in it
#[derive(Debug, Args)]
pub struct SandboxedFlags {
    /// Directory that the program may write to; may be repeated
    #[arg(long, value_name = "DIR")]
    scratch: Vec<PathBuf>,

    /// Program and its arguments; without one, prints what the kernel cannot do, a line each
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    program: Vec<OsString>,
}

pub fn sandboxed(flags: &SandboxedFlags) -> Outcome {
    let lacks = restrictions::enter(&flags.scratch);
    let Some((program, arguments)) = flags.program.split_first() else {
        return stdout::print(&lacks.iter().map(|line| format!("{line}\n")).collect::<String>());
    };
    let error = Command::new(program).args(arguments).exec();
    let error = Error::io(Code::UserCode, "cannot start the program", &error);
    Err(error.at_path(program.to_string_lossy()).into())
}
