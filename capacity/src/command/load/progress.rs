//! Progress on a terminal: a line for the last second, and a line that stays for each finished run.

use std::io::{IsTerminal, Write};

use yunti_load::report::Second;
use yunti_program::text::numbers;

/// Lines of progress.
pub struct Progress {
    is_on: bool,
}

impl Progress {
    /// Returns the progress; it is off if standard error is no terminal, or for JSON.
    pub fn new(is_json: bool) -> Progress {
        Progress { is_on: !is_json && std::io::stderr().is_terminal() }
    }

    /// Shows the last second.
    pub fn show(&self, second: &Second) {
        let (p50, p99) = (numbers::milliseconds(second.p50_ms), numbers::milliseconds(second.p99_ms));
        let at = second.at_s + 1;
        self.write(&format!("{at} s: {} requests/s, p50 {p50}, p99 {p99}, {} errors", second.done, second.errors));
    }

    /// Shows a line that stays.
    pub fn keep(&self, line: &str) {
        self.write(&format!("{line}\n"));
    }

    /// Removes the line.
    pub fn clear(&self) {
        self.write("");
    }

    fn write(&self, text: &str) {
        if self.is_on {
            // Progress that cannot be written does not matter.
            let _ = write!(std::io::stderr(), "\r\x1b[K{text}");
        }
    }
}
