//! Bytes that were received and are not taken yet.

use std::io::{self, ErrorKind, Read};

/// Bytes that a read has room for.
const READ: usize = 64 << 10;
/// A buffer that grew beyond this for a large message is given back.
const KEPT: usize = 1 << 20;

/// A buffer that keeps its memory from one message to the next, so that a read clears none.
#[derive(Default)]
pub struct Input {
    bytes: Vec<u8>,
    begin: usize,
    end: usize,
}

impl Input {
    pub fn received(&self) -> &[u8] {
        &self.bytes[self.begin..self.end]
    }

    /// Takes the first bytes. They are there until the next read.
    pub fn take(&mut self, count: usize) -> &[u8] {
        let begin = self.begin;
        self.begin += count;
        &self.bytes[begin..self.begin]
    }

    /// Reads some bytes, and returns how many. The end of the stream is an error.
    pub fn read(&mut self, from: &mut impl Read) -> io::Result<usize> {
        if self.begin > 0 {
            self.bytes.copy_within(self.begin..self.end, 0);
            (self.begin, self.end) = (0, self.end - self.begin);
        }
        if self.end == 0 && self.bytes.len() > KEPT {
            self.bytes = Vec::new();
        }
        if self.bytes.len() < self.end + READ {
            self.bytes.resize(self.end + READ, 0);
        }
        loop {
            match from.read(&mut self.bytes[self.end..]) {
                Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
                Ok(count) => {
                    self.end += count;
                    return Ok(count);
                }
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(e) => return Err(e),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_read_is_taken_in_order() {
        let sent: Vec<u8> = (0..300_000_u32).map(|at| at as u8).collect();
        let (mut from, mut input, mut taken) = (sent.as_slice(), Input::default(), Vec::new());
        while input.read(&mut from).is_ok() {
            let some = input.received().len() * 2 / 3;
            taken.extend_from_slice(input.take(some));
        }
        taken.extend_from_slice(input.received());
        assert_eq!(taken, sent);
        assert_eq!(input.read(&mut from).unwrap_err().kind(), ErrorKind::UnexpectedEof);
    }
}
