//! Connections to the process that serves functions. A call uses one connection alone, so that as many calls run at a
//! time as there are connections.
//!
//! ```text
//!   request   | kind: u32 | number: u32 | length: u64 | payload ..      kind 1: describe, 2: call
//!   answer    | kind: u32 | number: u32 | length: u64 | payload ..      kind 0: result, 1: error
//! ```

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::Path;
use std::sync::{Condvar, Mutex, MutexGuard};

use yunti_base::{Code, Error, Result};

use super::Ends;

/// Version of the protocol: the number of a request to describe, and of its answer.
const VERSION: u32 = 1;
const HEAD_BYTES: usize = 16;
/// Bytes of an answer, at most.
const ANSWER_BYTES_MAX: u64 = 4 << 30;
/// Bytes that are reserved for an answer before they have come.
const RESERVED_BYTES_MAX: u64 = 16 << 20;

/// Subject of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Request {
    /// The list of functions.
    Describe,
    /// A call of the function of this number.
    Call(u32),
}

/// Payload of an answer.
#[derive(Debug, PartialEq, Eq)]
pub enum Answer {
    Result(Vec<u8>),
    /// Message in one line, and what belongs to it beyond the line.
    Failed(String, String),
}

/// Connections to one process.
#[derive(Debug)]
pub struct Channel {
    connections: Mutex<Connections>,
    returned: Condvar,
}

#[derive(Debug)]
struct Connections {
    idle: Vec<Connection>,
    /// Number of connections that are not broken.
    usable: usize,
}

#[derive(Debug)]
struct Connection {
    requests: File,
    answers: File,
}

/// Returns the error of a process that does not keep to the protocol.
pub fn broken(what: String) -> Error {
    Error::new(Code::UserCode, format!("the process that serves functions broke the protocol: {what}"))
        .hint("see docs/formats/sql-functions.md")
}

fn lost(e: &io::Error) -> Error {
    let ended = matches!(e.kind(), io::ErrorKind::UnexpectedEof | io::ErrorKind::BrokenPipe);
    match ended {
        true => Error::new(Code::UserCode, "the process that serves functions has ended"),
        false => Error::io(Code::UserCode, "cannot reach the process that serves functions", e),
    }
}

impl Channel {
    /// Opens the connections.
    pub fn open(ends: &[Ends]) -> Result<Channel> {
        let cannot = |path: &Path, e: io::Error| {
            Error::io(Code::Input, "cannot open a connection for functions", &e).at_path(path.to_string_lossy())
        };
        let open = |(requests, answers): &Ends| {
            Ok(Connection {
                requests: OpenOptions::new().write(true).open(requests).map_err(|e| cannot(requests, e))?,
                answers: File::open(answers).map_err(|e| cannot(answers, e))?,
            })
        };
        let idle = ends.iter().map(open).collect::<Result<Vec<_>>>()?;
        let usable = idle.len();
        Ok(Channel { connections: Mutex::new(Connections { idle, usable }), returned: Condvar::new() })
    }

    fn lock(&self) -> MutexGuard<'_, Connections> {
        self.connections.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// Sends a request and waits for its answer. Waits for a connection first.
    ///
    /// Errors: `UserCode` for a process that has ended or breaks the protocol. Its connection is not used again.
    pub fn call(&self, request: Request, payload: &[u8]) -> Result<Answer> {
        let mut connections = self.lock();
        let mut connection = loop {
            if let Some(connection) = connections.idle.pop() {
                break connection;
            }
            if connections.usable == 0 {
                return Err(Error::new(Code::UserCode, "the process that serves functions has ended"));
            }
            connections = self.returned.wait(connections).unwrap_or_else(|e| e.into_inner());
        };
        drop(connections);
        let answer = connection.call(request, payload);
        let mut connections = self.lock();
        match answer {
            Ok(_) => connections.idle.push(connection),
            Err(_) => connections.usable -= 1,
        }
        drop(connections);
        self.returned.notify_all();
        answer
    }
}

impl Connection {
    fn call(&mut self, request: Request, payload: &[u8]) -> Result<Answer> {
        let (kind, number) = match request {
            Request::Describe => (1, VERSION),
            Request::Call(number) => (2, number),
        };
        let mut head = Vec::with_capacity(HEAD_BYTES);
        head.extend_from_slice(&u32::to_le_bytes(kind));
        head.extend_from_slice(&u32::to_le_bytes(number));
        head.extend_from_slice(&(payload.len() as u64).to_le_bytes());
        self.requests.write_all(&head).and_then(|()| self.requests.write_all(payload)).map_err(|e| lost(&e))?;
        answer(&mut self.answers, number)
    }
}

/// Reads an answer to a request of this number.
fn answer(from: &mut impl Read, number: u32) -> Result<Answer> {
    let mut head = [0; HEAD_BYTES];
    from.read_exact(&mut head).map_err(|e| lost(&e))?;
    let word = |at: usize| u32::from_le_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
    let (kind, own, length) = (word(0), word(4), u64::from(word(8)) | u64::from(word(12)) << 32);
    if kind > 1 {
        return Err(broken(format!("an answer is of kind {kind}")));
    }
    if own != number {
        return Err(broken(format!("an answer to request {number} is for {own}")));
    }
    if length > ANSWER_BYTES_MAX {
        return Err(broken(format!("an answer has {length} bytes; {ANSWER_BYTES_MAX} are allowed")));
    }
    let mut payload = Vec::with_capacity(length.min(RESERVED_BYTES_MAX) as usize);
    from.take(length).read_to_end(&mut payload).map_err(|e| lost(&e))?;
    if payload.len() as u64 != length {
        return Err(lost(&io::ErrorKind::UnexpectedEof.into()));
    }
    if kind == 0 {
        return Ok(Answer::Result(payload));
    }
    let text = String::from_utf8_lossy(&payload);
    let (message, detail) = text.split_once('\n').unwrap_or((&text, ""));
    Ok(Answer::Failed(message.trim().into(), detail.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(kind: u32, number: u32, length: u64, payload: &[u8]) -> Vec<u8> {
        [&kind.to_le_bytes()[..], &number.to_le_bytes(), &length.to_le_bytes(), payload].concat()
    }

    #[test]
    fn answers_are_checked() {
        let of = |bytes: Vec<u8>| answer(&mut &bytes[..], 7);
        assert_eq!(of(bytes(0, 7, 2, b"ab")), Ok(Answer::Result(b"ab".to_vec())));
        assert_eq!(of(bytes(1, 7, 5, b"a b\nc")), Ok(Answer::Failed("a b".into(), "c".into())));
        for (damaged, expect) in [
            (bytes(0, 7, 3, b"ab"), "has ended"),
            (bytes(0, 7, 2, b"ab")[..9].to_vec(), "has ended"),
            (Vec::new(), "has ended"),
            (bytes(2, 7, 0, b""), "of kind 2"),
            (bytes(0, 8, 0, b""), "for 8"),
            (bytes(0, 7, u64::MAX, b""), "bytes"),
            (bytes(0, 7, ANSWER_BYTES_MAX, b""), "has ended"),
        ] {
            let error = of(damaged).unwrap_err();
            assert!(error.code() == Code::UserCode && error.to_string().contains(expect), "{error}");
        }
    }
}
