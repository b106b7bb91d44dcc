//! Colours and weights, where the stream is a terminal that has them; plain text elsewhere, and with NO_COLOR.

#[derive(Clone, Copy, Debug)]
pub struct Paint {
    on: bool,
}

pub fn for_stdout() -> Paint {
    let forbidden = std::env::var_os("NO_COLOR").is_some_and(|v| !v.is_empty());
    Paint { on: !forbidden && super::is_rich(&std::io::stdout()) }
}

impl Paint {
    pub const OFF: Paint = Paint { on: false };

    pub fn is_on(self) -> bool {
        self.on
    }
    pub fn bold(self, text: &str) -> String {
        self.with("1", text)
    }
    pub fn dim(self, text: &str) -> String {
        self.with("2", text)
    }
    /// One of the eight colours of a terminal, 1 red to 6 cyan.
    pub fn colour(self, number: u8, text: &str) -> String {
        self.with(&format!("3{number}"), text)
    }
    fn with(self, code: &str, text: &str) -> String {
        if self.on && !text.is_empty() { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_string() }
    }
}
