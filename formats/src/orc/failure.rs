//! Errors of an ORC file.

use yunti_api::{Error, Result};

/// Returns the error of a damaged file: exit code 4.
pub fn damaged(what: impl std::fmt::Display) -> Error {
    Error::damaged(format!("the ORC file is damaged ({what})"))
}

/// Returns the error of a file of a kind that cannot be read: exit code 3.
pub fn unsupported(what: impl std::fmt::Display) -> Error {
    Error::unsupported(format!("this ORC file cannot be read: {what}"))
}

/// Returns the error of a panic of the decoder.
pub fn of_panic(text: &str) -> Error {
    damaged(crate::failure::line(text))
}

/// Runs a decoder. A panic is an error of the file.
pub fn guarded<T>(call: impl FnOnce() -> Result<T>) -> Result<T> {
    crate::failure::guarded(of_panic, call)
}
