//! The `yunti` command: parse, act, report. All work is in the engine; errors become exit codes here, in one place.

mod command;
mod compare;
mod console;
mod facts;
mod failure;
mod flags;
mod page;
mod text;
mod whole_file;

use std::panic::catch_unwind;
use std::process::ExitCode;

use clap::Parser;
use yunti_engine::base::error::of_panic;

use console::stdout;
use failure::Failure;
use flags::Flags;

fn main() -> ExitCode {
    // A panic is told in one line, below; its backtrace only to those who ask for one.
    if std::env::var_os("RUST_BACKTRACE").is_none() {
        std::panic::set_hook(Box::new(|_| {}));
    }
    let arguments: Vec<_> = std::env::args_os().collect();
    let json = failure::wants_json(&arguments);
    let result = catch_unwind(|| match Flags::try_parse_from(&arguments) {
        Ok(flags) => command::act(flags),
        Err(e) if e.use_stderr() => Err(failure::of_clap(&e).into()),
        // --help and --version.
        Err(e) => stdout::print(&console::ansi_text(&e)),
    })
    .unwrap_or_else(|panic| Err(of_panic(&*panic).into()));
    match result {
        Ok(()) => ExitCode::SUCCESS,
        // Whoever read our output has seen enough, as `head` has: that is no error.
        Err(Failure::OutputClosed) => ExitCode::SUCCESS,
        Err(Failure::Error(error)) => {
            failure::tell(&error, json);
            ExitCode::from(error.code() as u8)
        }
        Err(Failure::Told(code)) => ExitCode::from(code as u8),
    }
}
