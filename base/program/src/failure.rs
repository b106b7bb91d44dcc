//! How a command fails, and how that is told: one line on stderr, or one JSON document on stdout with `--json`.

use std::ffi::OsString;
use std::io::Write;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use serde_json::{Value, json};
use yunti_base::{Code, Error};

pub enum Failure {
    Error(Error),
    /// The reader of our standard output has closed it.
    OutputClosed,
    /// The command has said all there is to say; only the exit code is left.
    Reported(Code),
}

pub type Outcome<T = ()> = std::result::Result<T, Failure>;

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Failure::Error(error)
    }
}

/// Whether `--json` stands among the arguments; asked before they are parsed, since parsing may be what fails.
pub fn wants_json(arguments: &[OsString]) -> bool {
    arguments.iter().skip(1).take_while(|a| *a != "--").any(|a| a == "--json")
}

pub fn report(error: &Error, json: bool) {
    let said = if json {
        writeln!(std::io::stdout(), "{}", json!({ "error": as_json(error) }))
    } else {
        writeln!(std::io::stderr(), "yunti: {error}")
    };
    // There is no place left to complain to.
    let _ = said;
}

pub fn as_json(error: &Error) -> Value {
    json!({
        "code": error.code().name(),
        "exit_code": error.code() as u8,
        "message": error.what(),
        "path": error.path(),
        "offset": error.offset(),
        "hint": error.hint_text(),
    })
}

/// clap's paragraphs as our one line: what is wrong, what was meant, where to read more.
pub fn of_clap(error: &clap::Error) -> Error {
    let text = error.render().to_string();
    let paragraph = text.strip_prefix("error: ").unwrap_or(&text).split("\n\n").next().unwrap_or("");
    let mut what = paragraph.split('\n').map(str::trim).collect::<Vec<_>>().join(" ");
    if matches!(error.kind(), ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand | ErrorKind::MissingSubcommand) {
        what = "a command is missing".into();
    }
    // The last part is the hint of our own value parsers.
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
