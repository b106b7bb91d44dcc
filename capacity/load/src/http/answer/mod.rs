//! Answers of HTTP/1.1: bytes of a connection in any pieces, the end of each answer out.
//!
//! ```text
//!   Head --1xx--> Head
//!     |-- no body (HEAD, 204, 304, length 0) ----------------------> Done
//!     |-- Content-Length --> Length ------------------------------> Done
//!     |-- chunked --> ChunkSize -> ChunkData -> ChunkEnd -> ..
//!     |                   `-- 0 --> Trailer ----------------------> Done
//!     `-- neither --> UntilClose --(connection closes)------------> Done
//! ```
//!
//! Bodies are counted and dropped, so an answer of any size needs the memory of its head.

mod chunked;
mod head;

use chunked::Chunked;
use head::{Framing, Head};

/// Largest head, and largest sum of interim heads.
const HEAD_BYTES_MAX: usize = 64 << 10;
/// Interim answers (1xx) before the final one.
const INTERIM_MAX: u8 = 16;
/// Capacity for heads in pieces that a connection keeps.
const KEPT_BYTES: usize = 4 << 10;

/// Violation of HTTP by the server: a short description.
pub type Fault = &'static str;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Head,
    Length,
    Chunked,
    UntilClose,
    Done,
}

/// Reader of one answer after the other.
#[derive(Debug)]
pub struct Answer {
    state: State,
    /// Bytes of an incomplete head.
    head: Vec<u8>,
    interim: u8,
    is_head_request: bool,
    /// Bytes of the body that are due.
    left: u64,
    chunked: Chunked,
    status: u16,
    keeps_alive: bool,
    bytes: u64,
}

impl Default for Answer {
    fn default() -> Self {
        Answer {
            state: State::Done,
            head: Vec::new(),
            interim: 0,
            is_head_request: false,
            left: 0,
            chunked: Chunked::default(),
            status: 0,
            keeps_alive: false,
            bytes: 0,
        }
    }
}

impl Answer {
    /// Expects the answer to the next request.
    pub fn begin(&mut self, is_head_request: bool) {
        self.head.clear();
        self.head.shrink_to(KEPT_BYTES);
        self.state = State::Head;
        self.interim = 0;
        self.is_head_request = is_head_request;
        self.bytes = 0;
        self.status = 0;
    }

    /// Returns the status of a complete answer.
    pub fn status(&self) -> u16 {
        self.status
    }

    /// Returns true if the connection can take another request after this complete answer.
    pub fn keeps_alive(&self) -> bool {
        self.keeps_alive
    }

    /// Returns the bytes of the answer so far, with its heads.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Returns true if the answer is complete.
    pub fn is_done(&self) -> bool {
        self.state == State::Done
    }

    /// Reads bytes up to the end of the answer. Returns the number of bytes that belong to it.
    pub fn feed(&mut self, bytes: &[u8]) -> Result<usize, Fault> {
        let mut at = 0;
        while at < bytes.len() && self.state != State::Done {
            at += self.step(&bytes[at..])?;
        }
        self.bytes += at as u64;
        Ok(at)
    }

    fn step(&mut self, bytes: &[u8]) -> Result<usize, Fault> {
        match self.state {
            State::Head => self.read_head(bytes),
            State::Length => {
                let used = usize::try_from(self.left).unwrap_or(usize::MAX).min(bytes.len());
                self.left -= used as u64;
                if self.left == 0 {
                    self.state = State::Done;
                }
                Ok(used)
            }
            State::Chunked => {
                let used = self.chunked.feed(bytes)?;
                if self.chunked.is_done() {
                    self.state = State::Done;
                }
                Ok(used)
            }
            State::UntilClose => Ok(bytes.len()),
            State::Done => Ok(0),
        }
    }

    /// Returns true if the answer is complete when the server closes the connection here.
    pub fn close(&mut self) -> bool {
        if self.state == State::UntilClose {
            self.state = State::Done;
        }
        self.state == State::Done
    }

    fn read_head(&mut self, bytes: &[u8]) -> Result<usize, Fault> {
        if self.head.is_empty() {
            head::check_start(bytes)?;
            if let Some((head, used)) = Head::parse(bytes)? {
                self.accept(&head)?;
                return Ok(used);
            }
            if bytes.len() > HEAD_BYTES_MAX {
                return Err("the head has more than 64 KiB");
            }
            self.head.extend_from_slice(bytes);
            return Ok(bytes.len());
        }
        let known = self.head.len();
        let taken = bytes.len().min(HEAD_BYTES_MAX + 1 - known);
        self.head.extend_from_slice(&bytes[..taken]);
        head::check_start(&self.head)?;
        // A head is parsed again only when its end may have come: one that drips would cost its square.
        if head::may_end(&self.head, known)
            && let Some((head, used)) = Head::parse(&self.head)?
        {
            self.head.clear();
            self.accept(&head)?;
            return Ok(used - known);
        }
        if self.head.len() > HEAD_BYTES_MAX {
            return Err("the head has more than 64 KiB");
        }
        Ok(taken)
    }

    fn accept(&mut self, head: &Head) -> Result<(), Fault> {
        if (100..200).contains(&head.status) {
            self.interim += 1;
            return match head.status {
                101 => Err("the server switches protocols unasked"),
                _ if self.interim > INTERIM_MAX => Err("more than 16 interim answers (1xx)"),
                _ => Ok(()),
            };
        }
        self.status = head.status;
        self.keeps_alive = head.keeps_alive;
        let has_body = !self.is_head_request && !matches!(head.status, 204 | 304);
        self.state = match head.framing {
            _ if !has_body => State::Done,
            Framing::Length(0) => State::Done,
            Framing::Length(bytes) => {
                self.left = bytes;
                State::Length
            }
            Framing::Chunked => {
                self.chunked = Chunked::default();
                State::Chunked
            }
            Framing::UntilClose => {
                self.keeps_alive = false;
                State::UntilClose
            }
        };
        Ok(())
    }
}

#[cfg(test)]
mod tests;
