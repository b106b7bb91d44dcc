//! The one error type of Yunti: a stable code, what happened, where, and what the user can do.
//!
//! Data errors are values of this type and never panics. The command line turns `Code` into the
//! process exit code (docs/guide/exit-codes.md), in one place.

use std::fmt;

pub type Result<T> = std::result::Result<T, Error>;

/// Stable classes of failure; the discriminant is the exit code of the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Code {
    /// A bug of ours: an invariant did not hold, or a task panicked.
    Internal = 1,
    /// A bad option, job file or combination of settings.
    Usage = 2,
    /// Input that is missing or cannot be read.
    Input = 3,
    /// Input, a run block or generated data whose bytes are not what they must be.
    Corrupt = 4,
    /// Output or scratch that cannot be written (a full disk, no permission).
    Output = 5,
    /// A class library that cannot be loaded, or user code that failed.
    UserCode = 6,
    /// The memory budget is too small for this job.
    Memory = 7,
    /// The output exists already.
    Exists = 8,
    /// Data that was checked and found wrong (`yunti validate`).
    Invalid = 9,
    /// Cancelled by the user or by the host.
    Cancelled = 130,
}

impl Code {
    /// The name used in `--json` output and in the documentation.
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
}

impl Error {
    pub fn new(code: Code, what: impl Into<String>) -> Self {
        Error(Box::new(Parts { code, what: what.into(), path: None, offset: None, hint: None }))
    }

    /// An I/O error of the operating system, in its own words. Data that came back damaged are `Corrupt`, whoever asked for them.
    pub fn io(code: Code, doing: &str, error: &std::io::Error) -> Self {
        let code = if error.kind() == std::io::ErrorKind::InvalidData { Code::Corrupt } else { code };
        let full = matches!(error.raw_os_error(), Some(libc::ENOSPC) | Some(libc::EDQUOT));
        let this = Error::new(code, format!("{doing}: {}", plain(error)));
        if full { this.hint("free some space or name another directory") } else { this }
    }

    /// Names the file, unless a lower floor has named one already.
    pub fn at_path(mut self, path: impl Into<String>) -> Self {
        self.0.path.get_or_insert_with(|| path.into());
        self
    }

    /// Byte offset within the file, unless a lower floor has said it already.
    pub fn at_offset(mut self, offset: u64) -> Self {
        self.0.offset.get_or_insert(offset);
        self
    }

    /// Says in which part of a larger whole it happened.
    pub fn within(mut self, part: &str) -> Self {
        self.0.what = format!("{part}: {}", self.0.what);
        self
    }

    /// What the user can do about it, unless a lower floor has said it already.
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.0.hint.get_or_insert_with(|| hint.into());
        self
    }

    pub fn code(&self) -> Code {
        self.0.code
    }
    pub fn what(&self) -> &str {
        &self.0.what
    }
    pub fn path(&self) -> Option<&str> {
        self.0.path.as_deref()
    }
    pub fn offset(&self) -> Option<u64> {
        self.0.offset
    }
    pub fn hint_text(&self) -> Option<&str> {
        self.0.hint.as_deref()
    }
}

/// A caught panic as an error of the task: a bug of ours, said in one line.
pub fn of_panic(panic: &(dyn std::any::Any + Send)) -> Error {
    let text = panic
        .downcast_ref::<&str>()
        .map(|s| s.to_string())
        .or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "no message".to_string());
    Error::new(Code::Internal, format!("a task panicked: {text}")).hint("this is a bug in Yunti; please report it")
}

/// The message of the operating system without Rust's "(os error N)".
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
        // One line, whatever a file name or a user's message contains.
        f.write_str(&line.replace(['\n', '\r'], " "))
    }
}

impl std::error::Error for Error {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_line_says_what_where_and_what_to_do() {
        let e = Error::new(Code::Corrupt, "bad\nblock").at_path("a/b").at_offset(7).hint("run it again");
        assert_eq!(e.to_string(), "bad block: a/b, byte 7: run it again");
        // The floor closest to the fault has the first word.
        assert_eq!(e.clone().at_path("c").at_offset(9).to_string(), e.to_string());
    }

    #[test]
    fn a_full_disk_says_what_to_do() {
        let e = Error::io(Code::Output, "cannot write", &std::io::Error::from_raw_os_error(libc::ENOSPC));
        assert!(e.to_string().ends_with("free some space or name another directory"), "{e}");
    }
}
