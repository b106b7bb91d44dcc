//! Frame of a program: arguments in, exit code out. This is the one place that turns errors into exit codes.

use std::ffi::OsString;
use std::panic::{RefUnwindSafe, catch_unwind};
use std::process::ExitCode;

use clap::Parser;
use yunti_base::Result;
use yunti_base::error::of_panic;

use crate::failure::{self, Failure, Outcome};
use crate::terminal::{self, stdout};

/// Parses the arguments of this process, calls `act` with them, and returns the exit code.
///
/// An error or a panic is reported in one line, or as JSON with `--json`.
pub fn run<Flags: Parser>(act: impl Fn(Flags) -> Outcome + RefUnwindSafe) -> ExitCode {
    ExitCode::from(exit_code(act))
}

/// Does the same as [`run`], for a program that has something to do before it ends.
pub fn exit_code<Flags: Parser>(act: impl Fn(Flags) -> Outcome + RefUnwindSafe) -> u8 {
    exit_code_of(Ok, act)
}

/// Does the same as [`exit_code`], for arguments in the spelling that `respell` returns.
pub fn exit_code_of<Flags: Parser>(
    respell: impl Fn(Vec<OsString>) -> Result<Vec<OsString>> + RefUnwindSafe,
    act: impl Fn(Flags) -> Outcome + RefUnwindSafe,
) -> u8 {
    let arguments: Vec<OsString> = std::env::args_os().collect();
    // A panic is reported in one line below. RUST_BACKTRACE brings back Rust's own report.
    if std::env::var_os("RUST_BACKTRACE").is_none() {
        std::panic::set_hook(Box::new(|_| {}));
    }
    let json = failure::wants_json(&arguments);
    let result = catch_unwind(|| match Flags::try_parse_from(respell(arguments.clone())?) {
        Ok(flags) => act(flags),
        Err(e) if e.use_stderr() => Err(failure::of_clap(&e).into()),
        // --help and --version.
        Err(e) => stdout::print(&terminal::ansi_text(&e)),
    })
    .unwrap_or_else(|panic| Err(of_panic(&*panic).into()));
    match result {
        Ok(()) => 0,
        // A reader that closes standard output early, such as `head`, is no error.
        Err(Failure::OutputClosed) => 0,
        Err(Failure::Error(error)) => {
            failure::report(&error, json);
            error.code() as u8
        }
        Err(Failure::Reported(code)) => code as u8,
    }
}
