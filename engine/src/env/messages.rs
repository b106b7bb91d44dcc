//! Messages, passed in: lines that user code writes for the user.

use std::io::Write;

/// Place where lines of user code are shown.
pub trait Messages: Send + Sync {
    /// Shows a line, which comes without its end. A line that cannot be shown is lost.
    fn show(&self, line: &str);
}

/// Standard error.
pub struct StandardError;

impl Messages for StandardError {
    fn show(&self, line: &str) {
        // One write: lines of several threads do not mix.
        let _ = std::io::stderr().write_all(format!("{line}\n").as_bytes());
    }
}

/// Discards all messages.
impl Messages for () {
    fn show(&self, _: &str) {}
}
