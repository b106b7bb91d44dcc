//! Failure of a command and its report: one line on stderr, or one JSON document on stdout with `--json`.

use std::ffi::OsString;
use std::io::Write;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use serde_json::{Value, json};
use yunti_base::{Code, Error};

/// Reason why a command ends without success.
pub enum Failure {
    /// Error to report; its code becomes the exit code.
    Error(Error),
    /// Standard output closed by its reader. The exit code is 0.
    OutputClosed,
    /// Failure that the command has reported itself. It only sets the exit code.
    Reported(Code),
}

/// Result of a command or of a step of it.
pub type Outcome<T = ()> = std::result::Result<T, Failure>;

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Failure::Error(error)
    }
}

/// Returns true if `--json` is among the arguments before `--`.
///
/// The first argument is the name of the program. The check precedes parsing, because parsing itself may fail.
pub fn wants_json(arguments: &[OsString]) -> bool {
    arguments.iter().skip(1).take_while(|a| *a != "--").any(|a| a == "--json")
}

/// Prints an error: as one JSON document to stdout, or as one line to stderr. Failures of these writes are ignored.
pub fn report(error: &Error, json: bool) {
    let written = if json {
        writeln!(std::io::stdout(), "{}", json!({ "error": as_json(error) }))
    } else {
        writeln!(std::io::stderr(), "yunti: {error}")
    };
    // No stream is left to report a failed write to.
    let _ = written;
}

/// Returns an error as JSON: `code`, `exit_code`, `message`, `path`, `offset`, `hint`, `detail`.
pub fn as_json(error: &Error) -> Value {
    json!({
        "code": error.code().name(),
        "exit_code": error.code() as u8,
        "message": error.what(),
        "path": error.path(),
        "offset": error.offset(),
        "hint": error.hint_text(),
        "detail": error.detail_text(),
    })
}

/// Returns clap's message as an error of code [`Code::Usage`]: what is wrong, with a suggestion or `see --help` as the
/// hint.
pub fn of_clap(error: &clap::Error) -> Error {
    let text = error.render().to_string();
    let paragraph = text.strip_prefix("error: ").unwrap_or(&text).split("\n\n").next().unwrap_or("");
    let mut what = paragraph.split('\n').map(str::trim).collect::<Vec<_>>().join(" ");
    if matches!(error.kind(), ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand | ErrorKind::MissingSubcommand) {
        what = "a command is missing".into();
    }
    // The message of a value parser already ends with a hint.
    if error.kind() == ErrorKind::ValueValidation {
        return Error::new(Code::Usage, what);
    }
    let suggestion = [ContextKind::SuggestedArg, ContextKind::SuggestedSubcommand, ContextKind::SuggestedValue]
        .into_iter()
        .find_map(|kind| match error.get(kind)? {
            ContextValue::String(one) => Some(one.clone()),
            ContextValue::Strings(several) => several.first().cloned(),
            _ => None,
        });
    Error::new(Code::Usage, what).hint(match suggestion {
        Some(name) => format!("did you mean '{name}'?"),
        None => "see --help".into(),
    })
}
