//! Colours and weights on terminals that have them; plain text elsewhere and with NO_COLOR.

/// Switch for colours. While off, every method returns the text unchanged.
#[derive(Clone, Copy, Debug)]
pub struct Paint {
    on: bool,
}

/// Returns the paint for standard output: off if it is no rich terminal, or if NO_COLOR is set and not empty.
pub fn for_stdout() -> Paint {
    let forbidden = std::env::var_os("NO_COLOR").is_some_and(|v| !v.is_empty());
    Paint { on: !forbidden && super::is_rich(&std::io::stdout()) }
}

impl Paint {
    /// Plain text always.
    pub const OFF: Paint = Paint { on: false };

    /// Returns true if colours are on.
    pub fn is_on(self) -> bool {
        self.on
    }
    /// Returns the text in bold.
    pub fn bold(self, text: &str) -> String {
        self.with("1", text)
    }
    /// Returns the text dimmed.
    pub fn dim(self, text: &str) -> String {
        self.with("2", text)
    }
    /// Returns the text in one of the terminal's eight colours, from 1 (red) to 6 (cyan).
    pub fn colour(self, number: u8, text: &str) -> String {
        self.with(&format!("3{number}"), text)
    }
    fn with(self, code: &str, text: &str) -> String {
        if self.on && !text.is_empty() { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_string() }
    }
}
