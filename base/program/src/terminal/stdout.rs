//! Writes to standard output. If its reader has closed it (`| head`), that is no error: see `Failure::OutputClosed`.

use std::io::{self, Write};

use yunti_base::{Code, Error};

use crate::failure::{Failure, Outcome};

/// Writes a text to standard output and flushes it. Errors are those of [`write`].
pub fn print(text: &str) -> Outcome {
    write(text.as_bytes())
}

/// Writes bytes to standard output and flushes them.
///
/// A closed pipe is [`Failure::OutputClosed`]; other failures have the code [`Code::Output`].
pub fn write(bytes: &[u8]) -> Outcome {
    let mut out = io::stdout().lock();
    out.write_all(bytes).and_then(|()| out.flush()).map_err(|e| match e.kind() {
        io::ErrorKind::BrokenPipe => Failure::OutputClosed,
        _ => Error::io(Code::Output, "cannot write", &e).at_path("standard output").into(),
    })
}

/// Prints one JSON document, indented, as all commands do with `--json`.
pub fn print_json(document: &serde_json::Value) -> Outcome {
    print(&format!("{document:#}\n"))
}
