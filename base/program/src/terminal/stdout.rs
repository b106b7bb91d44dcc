//! Writes to standard output. A reader that has closed it (`| head`) is no error: see `Failure::OutputClosed`.

use std::io::{self, Write};

use yunti_base::{Code, Error};

use crate::failure::{Failure, Outcome};

pub fn print(text: &str) -> Outcome {
    write(text.as_bytes())
}

pub fn write(bytes: &[u8]) -> Outcome {
    let mut out = io::stdout().lock();
    out.write_all(bytes).and_then(|()| out.flush()).map_err(|e| match e.kind() {
        io::ErrorKind::BrokenPipe => Failure::OutputClosed,
        _ => Error::io(Code::Output, "cannot write", &e).at_path("standard output").into(),
    })
}

/// One JSON document, indented, as all commands print it with `--json`.
pub fn print_json(document: &serde_json::Value) -> Outcome {
    print(&format!("{document:#}\n"))
}
