//! Errors of reading an image.

use std::{fmt, io};

/// Result of reading an image.
pub type Result<T> = std::result::Result<T, Error>;

/// Kind of an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// The image could not be read.
    Io,
    /// The image is not ext2, ext3 or ext4.
    Foreign,
    /// The image has a feature that is not supported.
    Unsupported,
    /// The image holds impossible values.
    Damaged,
}

/// Error of reading an image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// Kind of the error.
    pub kind: ErrorKind,
    /// Message in one line, with the place.
    pub what: String,
}

impl Error {
    pub(crate) fn new(kind: ErrorKind, what: impl Into<String>) -> Error {
        Error { kind, what: what.into() }
    }

    pub(crate) fn io(doing: &str, error: &io::Error) -> Error {
        Error::new(ErrorKind::Io, format!("{doing}: {error}"))
    }
}

pub(crate) fn damaged<T>(what: impl Into<String>) -> Result<T> {
    Err(Error::new(ErrorKind::Damaged, what))
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(&self.what)
    }
}

impl std::error::Error for Error {}
