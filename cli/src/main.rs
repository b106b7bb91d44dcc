//! The `yunti` command: parse, act, report. All work is in the engine.

mod command;
mod compare;
mod console;
mod facts;
mod flags;
mod guard;
mod help;
mod page;
mod text;

use std::process::ExitCode;

use yunti_base::whole_file;
use yunti_program::{failure, program};

use command::streaming;

fn main() -> ExitCode {
    let code = program::exit_code_of(streaming::with_double_dashes, flags::act);
    guard::over(code);
    ExitCode::from(code)
}
