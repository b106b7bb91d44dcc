//! The one error type of Yunti: a stable code, what happened, where, and what the user can do.
//!
//! Data errors are values of this type and never panics. The command line turns `Code` into the
//! process exit code (docs/guide/exit-codes.md), in one place.

use std::fmt;

use crate::store_protocol::UsageError;

/// Result of a fallible operation of Yunti.
pub type Result<T> = std::result::Result<T, Error>;

/// Stable classes of failure; the discriminant is the exit code of the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Code {
    /// Bug in Yunti: a broken invariant or a panic of a task.
    Internal = 1,
    /// Invalid option, job file or combination of settings.
    Usage = 2,
    /// Missing or unreadable input.
    Input = 3,
    /// Corrupt bytes in input, a run block or generated data.
    Corrupt = 4,
    /// Output or scratch that cannot be written (full disk, no permission).
    Output = 5,
    /// Class library that cannot be loaded, or user code that failed.
    UserCode = 6,
    /// Memory budget too small for this job.
    Memory = 7,
    /// Output that exists already.
    Exists = 8,
    /// Data that failed a check (`yunti validate`).
    Invalid = 9,
    /// Cancellation by the user or by the host program.
    Cancelled = 130,
}

impl Code {
    /// Returns the name used in `--json` output and in the documentation.
    pub fn name(self) -> &'static str {
        match self {
            Code::Internal => "internal",
            Code::Usage => "usage",
            Code::Input => "input",
            Code::Corrupt => "corrupt",
            Code::Output => "output",
            Code::UserCode => "user_code",
            Code::Memory => "memory",
            Code::Exists => "exists",
            Code::Invalid => "invalid",
            Code::Cancelled => "cancelled",
        }
    }
}

/// One failure. `Display` prints one line: `what: where: what to do`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error(Box<Parts>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Parts {
    code: Code,
    what: String,
    path: Option<String>,
    offset: Option<u64>,
    hint: Option<String>,
    detail: Option<String>,
}

impl Error {
    /// Returns an error with a message alone.
    pub fn new(code: Code, what: impl Into<String>) -> Self {
        Error(Box::new(Parts { code, what: what.into(), path: None, offset: None, hint: None, detail: None }))
    }

    /// Returns an I/O error with the message of the operating system.
    ///
    /// `InvalidData` becomes [`Code::Corrupt`] instead of `code`, and a [`UsageError`] [`Code::Usage`].
    /// A full disk or quota adds a hint.
    pub fn io(code: Code, doing: &str, error: &std::io::Error) -> Self {
        let is_usage = error.get_ref().is_some_and(|inner| inner.is::<UsageError>());
        let code = match error.kind() {
            _ if is_usage => Code::Usage,
            std::io::ErrorKind::InvalidData => Code::Corrupt,
            _ => code,
        };
        let full = matches!(error.raw_os_error(), Some(libc::ENOSPC) | Some(libc::EDQUOT));
        let this = Error::new(code, format!("{doing}: {}", plain(error)));
        if full { this.hint("free some space or name another directory") } else { this }
    }

    /// Sets the path, unless a lower floor has set one.
    pub fn at_path(mut self, path: impl Into<String>) -> Self {
        self.0.path.get_or_insert_with(|| path.into());
        self
    }

    /// Sets the byte offset within the file, unless a lower floor has set one.
    pub fn at_offset(mut self, offset: u64) -> Self {
        self.0.offset.get_or_insert(offset);
        self
    }

    /// Prefixes the message with the part of a larger whole that failed.
    pub fn within(mut self, part: &str) -> Self {
        self.0.what = format!("{part}: {}", self.0.what);
        self
    }

    /// Sets the action for the user, unless a lower floor has set one.
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.0.hint.get_or_insert_with(|| hint.into());
        self
    }

    /// Sets what belongs to the error beyond its line, as the traceback of user code. `Display` leaves it out.
    pub fn detail(mut self, detail: impl Into<String>) -> Self {
        self.0.detail.get_or_insert_with(|| detail.into());
        self
    }

    /// Returns the class of the failure.
    pub fn code(&self) -> Code {
        self.0.code
    }
    /// Returns the message without path, offset and hint.
    pub fn what(&self) -> &str {
        &self.0.what
    }
    /// Returns the path of the file, if one is known.
    pub fn path(&self) -> Option<&str> {
        self.0.path.as_deref()
    }
    /// Returns the byte offset within the file, if one is known.
    pub fn offset(&self) -> Option<u64> {
        self.0.offset
    }
    /// Returns the action for the user, if there is one.
    pub fn hint_text(&self) -> Option<&str> {
        self.0.hint.as_deref()
    }
    /// Returns what belongs to the error beyond its line, if there is such a text: several lines.
    pub fn detail_text(&self) -> Option<&str> {
        self.0.detail.as_deref()
    }
}

/// Returns a caught panic as an error of code [`Code::Internal`], in one line.
pub fn of_panic(panic: &(dyn std::any::Any + Send)) -> Error {
    let text = panic
        .downcast_ref::<&str>()
        .map(|s| s.to_string())
        .or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "no message".to_string());
    Error::new(Code::Internal, format!("a task panicked: {text}")).hint("this is a bug in Yunti; please report it")
}

/// Returns the message of the operating system without Rust's "(os error N)".
fn plain(error: &std::io::Error) -> String {
    let text = error.to_string();
    match text.rfind(" (os error") {
        Some(at) => text[..at].to_string(),
        None => text,
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let p = &self.0;
        let mut line = p.what.clone();
        match (&p.path, p.offset) {
            (Some(path), Some(offset)) => line += &format!(": {path}, byte {offset}"),
            (Some(path), None) => line += &format!(": {path}"),
            (None, Some(offset)) => line += &format!(": byte {offset}"),
            (None, None) => {}
        }
        if let Some(hint) = &p.hint {
            line += &format!(": {hint}");
        }
        // File names and user messages may contain line breaks.
        f.write_str(&line.replace(['\n', '\r'], " "))
    }
}

impl std::error::Error for Error {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prints_one_line_with_message_path_and_hint() {
        let e = Error::new(Code::Corrupt, "bad\nblock").at_path("a/b").at_offset(7).hint("run it again");
        assert_eq!(e.to_string(), "bad block: a/b, byte 7: run it again");
        // The floor closest to the fault sets the path and the offset.
        assert_eq!(e.clone().at_path("c").at_offset(9).to_string(), e.to_string());
    }

    #[test]
    fn a_detail_is_beyond_the_line() {
        let e = Error::new(Code::UserCode, "bad").detail("a\ntraceback").detail("another");
        assert_eq!((e.to_string().as_str(), e.detail_text()), ("bad", Some("a\ntraceback")));
    }

    #[test]
    fn hints_at_free_space_on_a_full_disk() {
        let e = Error::io(Code::Output, "cannot write", &std::io::Error::from_raw_os_error(libc::ENOSPC));
        assert!(e.to_string().ends_with("free some space or name another directory"), "{e}");
    }
}
