//! Messages, passed in: lines that user code writes for the user, its status, and the sign that it is waited for.

use std::io::Write;

/// Place where lines of user code are shown.
pub trait Messages: Send + Sync {
    /// Shows a line, which comes without its end. A line that cannot be shown is lost.
    fn show(&self, line: &str);

    /// Takes the status of a running task, one line. By default, the status is shown when the task ends.
    fn set_status(&self, _status: &str) {}

    /// Notes that a task waits for user code in another process, whose time is limited. A task that waits calls it
    /// several times a second.
    fn note_waiting(&self) {}
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
