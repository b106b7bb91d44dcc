//! Slot: a place for one connection after the other, with the request under way and its answer.

use super::stream::{Stream, StreamError};
use crate::http::answer::{Answer, Fault};
use crate::lane::Job;

/// Buffer of one read.
pub const READ_BYTES: usize = 64 << 10;
/// Bytes of one event, at most, so that a large answer does not delay the rest: then the slot is read again later.
const TURN_BYTES: usize = 1 << 20;

/// State of a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// No connection.
    Vacant,
    /// Connection that is being established.
    Opening,
    /// Connection that is free for a request.
    Idle,
    /// Request under way.
    Busy,
}

/// End of an attempt to read.
#[derive(Debug)]
pub enum Input {
    /// The answer is incomplete.
    Partial,
    /// The answer is incomplete, and more bytes have arrived already.
    More,
    /// The answer is complete.
    Done {
        /// The connection takes another request.
        is_reusable: bool,
    },
    /// The connection ended before the answer.
    Closed(Option<String>),
    /// The answer is not HTTP.
    Wrong(Fault),
}

/// A place for a connection.
pub struct Slot {
    pub stream: Option<Stream>,
    pub state: State,
    /// Number of the connection in this slot, so that late events of the one before are known.
    pub generation: u32,
    pub job: Job,
    pub ready_ns: u64,
    pub sent_ns: u64,
    /// Bytes of the request that are written.
    pub written: usize,
    pub answer: Answer,
    /// Answers of this connection.
    pub answers: u32,
    /// Since when the slot has its state: opening, or free for a request.
    pub since_ns: u64,
    /// Since when this connection opens.
    pub opened_ns: u64,
    /// True once the server has closed its side: no further event follows.
    pub is_ended: bool,
    /// Moment before which a closed loop does not connect again.
    pub retry_ns: u64,
}

impl Slot {
    /// Returns a slot without a connection.
    pub fn new() -> Slot {
        Slot {
            stream: None,
            state: State::Vacant,
            generation: 0,
            job: Job { due_ns: 0, request: 0, repeats: 0 },
            ready_ns: 0,
            sent_ns: 0,
            written: 0,
            answer: Answer::default(),
            answers: 0,
            since_ns: 0,
            opened_ns: 0,
            is_ended: false,
            retry_ns: 0,
        }
    }

    /// Writes as many bytes of the request as the connection takes.
    pub fn write(&mut self, wire: &[u8]) -> Result<(), StreamError> {
        let Some(stream) = &mut self.stream else { return Ok(()) };
        while self.written < wire.len() {
            match stream.write(&wire[self.written..]) {
                Ok(n) => self.written += n,
                Err(e) if e.is_blocked() => return Ok(()),
                Err(e) => return Err(e),
            }
        }
        match stream.flush() {
            Err(e) if !e.is_blocked() => Err(e),
            _ => Ok(()),
        }
    }

    /// Returns true if an idle connection has neither ended nor bytes without a request.
    pub fn is_silent(&mut self, buffer: &mut [u8]) -> bool {
        self.stream.as_mut().is_some_and(|stream| stream.read(buffer).is_err_and(|e| e.is_blocked()))
    }

    /// Reads the answer as far as it has arrived.
    pub fn read(&mut self, buffer: &mut [u8]) -> Input {
        let is_ended = self.is_ended;
        let Some(stream) = &mut self.stream else { return Input::Partial };
        let mut turn = 0;
        loop {
            let n = match stream.read(buffer) {
                Ok(0) => {
                    return match self.answer.close() {
                        true => Input::Done { is_reusable: false },
                        false => Input::Closed(None),
                    };
                }
                Ok(n) => n,
                Err(e) if e.is_blocked() => return Input::Partial,
                Err(StreamError::Io(e)) => return Input::Closed(Some(e.to_string())),
                Err(StreamError::Tls(e)) => return Input::Closed(Some(e.to_string())),
            };
            match self.answer.feed(&buffer[..n]) {
                Err(fault) => return Input::Wrong(fault),
                Ok(used) if self.answer.is_done() => {
                    // Bytes after the answer belong to no request of ours.
                    let is_reusable = self.answer.keeps_alive() && used == n && !is_ended;
                    return Input::Done { is_reusable };
                }
                Ok(_) => {}
            }
            if n < buffer.len() && !is_ended && !stream.is_tls() {
                return Input::Partial;
            }
            turn += n;
            if turn >= TURN_BYTES {
                return Input::More;
            }
        }
    }
}
