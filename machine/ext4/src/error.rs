//! Why an image could not be read.

use std::{fmt, io};

pub type Result<T> = std::result::Result<T, Error>;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// The image could not be read.
    Io,
    /// It is no ext2, ext3 or ext4.
    Foreign,
    /// It has a feature that is not known here.
    Unsupported,
    /// What it says cannot be.
    Damaged,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    pub trouble: Trouble,
    /// In one line, with the place.
    pub what: String,
}

impl Error {
    pub(crate) fn new(trouble: Trouble, what: impl Into<String>) -> Error {
        Error { trouble, what: what.into() }
    }

    pub(crate) fn io(doing: &str, error: &io::Error) -> Error {
        Error::new(Trouble::Io, format!("{doing}: {error}"))
    }
}

pub(crate) fn damaged<T>(what: impl Into<String>) -> Result<T> {
    Err(Error::new(Trouble::Damaged, what))
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(&self.what)
    }
}

impl std::error::Error for Error {}
