//! Errors of user code: a message for the user, or a status of the engine that goes back to it.

use crate::layout::{DAMAGED, UNSUPPORTED};

/// Result of user code.
pub type Result<T> = std::result::Result<T, Error>;

/// An error that ends the job. `?` makes one of every `std::error::Error`; [`fail`] makes one of a message.
///
/// It is no `std::error::Error` itself, because then `?` could not convert the others.
pub struct Error(Box<Reason>);

pub(crate) enum Reason {
    /// A message: what is wrong, where, what to do.
    Message(String),
    /// The same about a file, and the status that says what is wrong with it.
    Data(i32, String),
    /// A status that the engine returned: a cancelled job, or an output that it could not take.
    Status(i32),
}

impl Error {
    /// Returns an error with a message of one line: what is wrong, where, and what to do.
    pub fn new(message: impl Into<String>) -> Error {
        Error(Box::new(Reason::Message(message.into())))
    }

    /// Returns the error of a source for a damaged file.
    #[cold]
    pub fn damaged(message: impl Into<String>) -> Error {
        Error(Box::new(Reason::Data(DAMAGED, message.into())))
    }

    /// Returns the error of a source for a file that it cannot read, or that has no such column.
    #[cold]
    pub fn unsupported(message: impl Into<String>) -> Error {
        Error(Box::new(Reason::Data(UNSUPPORTED, message.into())))
    }

    #[cold]
    pub(crate) fn stopped(status: i32) -> Error {
        Error(Box::new(Reason::Status(status)))
    }

    pub(crate) fn reason(&self) -> &Reason {
        &self.0
    }
}

/// Returns an error with a message, as the result of any function: `return fail("line 3 has no date")`.
#[cold]
pub fn fail<T>(message: impl Into<String>) -> Result<T> {
    Err(Error::new(message))
}

impl<E: std::error::Error> From<E> for Error {
    #[cold]
    fn from(error: E) -> Error {
        Error::new(error.to_string())
    }
}

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &*self.0 {
            Reason::Message(message) | Reason::Data(_, message) => f.write_str(message),
            Reason::Status(status) => write!(f, "the engine stopped the task with status {status}"),
        }
    }
}

impl std::fmt::Debug for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, f)
    }
}
