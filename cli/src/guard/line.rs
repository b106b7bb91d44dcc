//! The error line of a job that ends in a handler, in the form of all errors: text on standard error, or JSON on
//! standard output.
//!
//! `failure.rs` prints the same form, but allocates memory and takes locks, which a handler must not do.

use std::fmt::{self, Write};

use rustix::fd::BorrowedFd;
use yunti_base::Code;

use super::state;

/// Bytes of a line; longer lines are cut.
const LINE_BYTES: usize = 6 << 10;

/// Bytes of one name in a line.
const NAME_BYTES: usize = 1 << 10;

/// Error that ends a job: its code, message, place and hint.
pub struct Ending<'a> {
    pub code: Code,
    pub what: fmt::Arguments<'a>,
    pub path: Option<&'a str>,
    pub byte: Option<u64>,
    pub hint: &'a str,
}

/// Text in an array on the stack.
struct Text {
    bytes: [u8; LINE_BYTES],
    len: usize,
    escape: Escape,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Escape {
    /// Text in one line: line ends become spaces.
    Line,
    /// Contents of a JSON string.
    Json,
    Nothing,
}

impl Text {
    fn raw(&mut self, bytes: &[u8]) {
        let n = bytes.len().min(LINE_BYTES - self.len);
        self.bytes[self.len..self.len + n].copy_from_slice(&bytes[..n]);
        self.len += n;
    }

    fn escaped(&mut self, escape: Escape, text: impl fmt::Display) {
        self.escape = escape;
        let _ = write!(self, "{text}");
        self.escape = Escape::Nothing;
    }
}

impl Write for Text {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for c in text.chars() {
            // Room for the end of the line.
            if self.escape != Escape::Nothing && self.len + 512 > LINE_BYTES {
                return Ok(());
            }
            match (self.escape, c) {
                (Escape::Line, '\n' | '\r') => self.raw(b" "),
                (Escape::Json, '"' | '\\') => self.raw(&[b'\\', c as u8]),
                (Escape::Json, c) if c < ' ' => {
                    let digit = |n: u32| b"0123456789abcdef"[n as usize & 15];
                    self.raw(&[b'\\', b'u', b'0', b'0', digit(c as u32 >> 4), digit(c as u32)]);
                }
                (_, c) => self.raw(c.encode_utf8(&mut [0; 4]).as_bytes()),
            }
        }
        Ok(())
    }
}

/// Name in a line, cut to `NAME_BYTES`.
pub struct Name<'a>(pub &'a str);

impl fmt::Display for Name<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let end = (0..=self.0.len().min(NAME_BYTES)).rev().find(|&at| self.0.is_char_boundary(at)).unwrap_or(0);
        f.write_str(&self.0[..end])
    }
}

impl Ending<'_> {
    /// Prints the error. Async-signal-safe.
    pub fn print(&self) {
        let text = if state::wants_json() { self.json() } else { self.line() };
        let to = if state::wants_json() { rustix::stdio::stdout() } else { rustix::stdio::stderr() };
        write_all(to, &text.bytes[..text.len]);
    }

    fn line(&self) -> Text {
        let mut text = Text { bytes: [0; LINE_BYTES], len: 0, escape: Escape::Nothing };
        if state::has_bar() {
            text.raw(b"\r\x1b[2K");
        }
        text.raw(b"yunti: ");
        text.escaped(Escape::Line, self.what);
        if let Some(path) = self.path {
            text.escaped(Escape::Line, format_args!(": {}", Name(path)));
        }
        if let Some(byte) = self.byte {
            text.escaped(Escape::Line, format_args!("{} byte {byte}", if self.path.is_some() { "," } else { ":" }));
        }
        text.escaped(Escape::Line, format_args!(": {}", self.hint));
        text.raw(b"\n");
        text
    }

    fn json(&self) -> Text {
        let mut text = Text { bytes: [0; LINE_BYTES], len: 0, escape: Escape::Nothing };
        let _ = write!(
            text,
            "{{\"error\":{{\"code\":\"{}\",\"detail\":null,\"exit_code\":{}",
            self.code.name(),
            self.code as u8
        );
        text.raw(b",\"hint\":\"");
        text.escaped(Escape::Json, self.hint);
        text.raw(b"\",\"message\":\"");
        text.escaped(Escape::Json, self.what);
        text.raw(b"\",\"offset\":");
        match self.byte {
            Some(byte) => text.escaped(Escape::Nothing, byte),
            None => text.raw(b"null"),
        }
        text.raw(b",\"path\":");
        match self.path {
            Some(path) => {
                text.raw(b"\"");
                text.escaped(Escape::Json, Name(path));
                text.raw(b"\"");
            }
            None => text.raw(b"null"),
        }
        text.raw(b"}}\n");
        text
    }
}

/// Prints a warning after a job that is done. Async-signal-safe.
pub fn warn(what: fmt::Arguments<'_>) {
    let mut text = Text { bytes: [0; LINE_BYTES], len: 0, escape: Escape::Nothing };
    text.raw(b"yunti: warning: ");
    text.escaped(Escape::Line, what);
    text.raw(b"\n");
    write_all(rustix::stdio::stderr(), &text.bytes[..text.len]);
}

fn write_all(to: BorrowedFd<'_>, mut bytes: &[u8]) {
    while !bytes.is_empty() {
        match rustix::io::write(to, bytes) {
            Ok(n) if n > 0 => bytes = &bytes[n..],
            Err(rustix::io::Errno::INTR) => {}
            _ => return,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(t: &Text) -> &str {
        std::str::from_utf8(&t.bytes[..t.len]).unwrap()
    }

    #[test]
    fn has_the_form_of_all_errors() {
        let (path, hint) = (Some("a \"b\"\n\u{1}\u{e9}"), "end it");
        let ending = Ending { code: Code::UserCode, what: format_args!("A.B\ncrashed"), path, byte: Some(7), hint };
        assert_eq!(text(&ending.line()), "yunti: A.B crashed: a \"b\" \u{1}\u{e9}, byte 7: end it\n");
        let json: serde_json::Value = serde_json::from_str(text(&ending.json())).unwrap();
        let error = yunti_base::Error::new(Code::UserCode, "A.B\ncrashed").at_path(path.unwrap());
        let error = crate::failure::as_json(&error.at_offset(7).hint(hint));
        assert_eq!(json, serde_json::json!({ "error": error }));
        let ending = Ending { path: None, byte: None, ..ending };
        assert_eq!(text(&ending.line()), "yunti: A.B crashed: end it\n");
        assert!(serde_json::from_str::<serde_json::Value>(text(&ending.json())).unwrap()["error"]["path"].is_null());
    }

    #[test]
    fn cuts_long_names_and_keeps_the_end() {
        let long = "\u{e9}\n".repeat(5000);
        let ending = Ending {
            code: Code::UserCode,
            what: format_args!("{long}"),
            path: Some(&long),
            byte: Some(7),
            hint: "hint",
        };
        assert!(text(&ending.line()).ends_with('\n') && text(&ending.line()).lines().count() == 1);
        let json: serde_json::Value = serde_json::from_str(text(&ending.json())).unwrap();
        assert_eq!(json["error"]["exit_code"], 6);
    }
}
