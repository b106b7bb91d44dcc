//! The frame of a program: arguments in, exit code out. Errors become exit codes here, in one place.

use std::ffi::OsString;
use std::panic::{RefUnwindSafe, catch_unwind};
use std::process::ExitCode;

use clap::Parser;
use yunti_base::error::of_panic;

use crate::failure::{self, Failure, Outcome};
use crate::terminal::{self, stdout};

/// Parses the arguments of this process and acts on them. What went wrong is told in one line, or as JSON to those who ask for that.
pub fn run<Flags: Parser>(act: impl Fn(Flags) -> Outcome + RefUnwindSafe) -> ExitCode {
    // A panic is told in one line, below; its backtrace only to those who ask for one.
    if std::env::var_os("RUST_BACKTRACE").is_none() {
        std::panic::set_hook(Box::new(|_| {}));
    }
    let arguments: Vec<OsString> = std::env::args_os().collect();
    let json = failure::wants_json(&arguments);
    let result = catch_unwind(|| match Flags::try_parse_from(&arguments) {
        Ok(flags) => act(flags),
        Err(e) if e.use_stderr() => Err(failure::of_clap(&e).into()),
        // --help and --version.
        Err(e) => stdout::print(&terminal::ansi_text(&e)),
    })
    .unwrap_or_else(|panic| Err(of_panic(&*panic).into()));
    match result {
        Ok(()) => ExitCode::SUCCESS,
        // Whoever read our output has seen enough, as `head` has: that is no error.
        Err(Failure::OutputClosed) => ExitCode::SUCCESS,
        Err(Failure::Error(error)) => {
            failure::report(&error, json);
            ExitCode::from(error.code() as u8)
        }
        Err(Failure::Reported(code)) => ExitCode::from(code as u8),
    }
}
