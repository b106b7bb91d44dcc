//! Body in chunks: a size in hexadecimal, that number of bytes, and so on until a size of 0 and trailers.

use super::Fault;

/// Bytes of a size line with its extensions.
const LINE_BYTES_MAX: u32 = 4 << 10;
/// Bytes of all trailers.
const TRAILER_BYTES_MAX: u32 = 16 << 10;
const DIGITS_MAX: u32 = 15;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Size,
    /// Extensions after a size, which mean nothing to us.
    Extension,
    SizeEnd,
    Data,
    DataReturn,
    DataEnd,
    /// Start of a line of the trailers.
    TrailerStart,
    TrailerLine,
    /// Carriage return of the empty line.
    LastEnd,
    Done,
}

/// Reader of one body.
#[derive(Debug)]
pub struct Chunked {
    state: State,
    digits: u32,
    line: u32,
    left: u64,
}

impl Default for Chunked {
    fn default() -> Self {
        Chunked { state: State::Size, digits: 0, line: 0, left: 0 }
    }
}

impl Chunked {
    /// Returns true at the end of the body.
    pub fn is_done(&self) -> bool {
        self.state == State::Done
    }

    /// Reads bytes up to the end of the body, and returns their number.
    pub fn feed(&mut self, bytes: &[u8]) -> Result<usize, Fault> {
        let mut at = 0;
        while at < bytes.len() && self.state != State::Done {
            if self.state == State::Data {
                let used = usize::try_from(self.left).unwrap_or(usize::MAX).min(bytes.len() - at);
                self.left -= used as u64;
                at += used;
                if self.left == 0 {
                    self.state = State::DataReturn;
                }
                continue;
            }
            self.state = self.next(bytes[at])?;
            at += 1;
        }
        Ok(at)
    }

    fn next(&mut self, byte: u8) -> Result<State, Fault> {
        Ok(match (self.state, byte) {
            (State::Size, b'0'..=b'9' | b'a'..=b'f' | b'A'..=b'F') => {
                self.digits += 1;
                if self.digits > DIGITS_MAX {
                    return Err("the size of a chunk is too large");
                }
                self.left = self.left * 16 + u64::from((byte as char).to_digit(16).unwrap_or(0));
                State::Size
            }
            (State::Size, _) if self.digits == 0 => return Err("the size of a chunk is no number"),
            (State::Size | State::Extension, b'\r') => State::SizeEnd,
            (State::Size, b';' | b' ' | b'\t') => State::Extension,
            (State::Extension, byte) if byte != b'\n' => {
                self.line += 1;
                if self.line > LINE_BYTES_MAX {
                    return Err("the size line of a chunk has more than 4 KiB");
                }
                State::Extension
            }
            (State::SizeEnd, b'\n') => {
                self.digits = 0;
                self.line = 0;
                if self.left == 0 { State::TrailerStart } else { State::Data }
            }
            (State::Size | State::Extension | State::SizeEnd, _) => return Err("the size of a chunk is no number"),
            (State::DataReturn, b'\r') => State::DataEnd,
            (State::DataEnd, b'\n') => State::Size,
            (State::DataReturn | State::DataEnd, _) => return Err("a chunk is longer than its size"),
            (State::TrailerStart, b'\r') => State::LastEnd,
            (State::LastEnd, b'\n') => State::Done,
            (State::LastEnd, _) => return Err("the end of the last chunk is wrong"),
            (State::TrailerStart | State::TrailerLine, byte) => {
                self.line += 1;
                if self.line > TRAILER_BYTES_MAX {
                    return Err("the trailers have more than 16 KiB");
                }
                if byte == b'\n' { State::TrailerStart } else { State::TrailerLine }
            }
            (State::Data | State::Done, _) => unreachable!("handled by feed"),
        })
    }
}
