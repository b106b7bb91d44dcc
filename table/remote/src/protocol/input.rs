//! Bytes that were received and are not taken yet.

use std::io::{self, ErrorKind, Read};

/// Bytes that a read has room for.
const READ: usize = 64 << 10;
/// A buffer that grew beyond this for a large message is given back.
const KEPT: usize = 1 << 20;
/// Bytes of a message that has not arrived as a whole, and has no buffer of its own yet.
const SMALL: usize = 4 << 10;

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

    /// Moves what was received into the memory of a spare buffer, unless it has a large one of its own.
    pub fn borrow(&mut self, spare: &mut Input) {
        if self.bytes.len() <= SMALL && spare.bytes.len() > SMALL {
            let own = std::mem::replace(self, std::mem::take(spare));
            (self.begin, self.end) = (0, own.received().len());
            self.bytes[..self.end].copy_from_slice(own.received());
        }
    }

    /// Gives its memory to a spare buffer, and keeps what is left of the bytes. More than a few stay where they are.
    pub fn give_back(&mut self, spare: &mut Input) {
        let left = self.received();
        if left.len() <= SMALL {
            let own = Input { bytes: left.to_vec(), begin: 0, end: left.len() };
            *spare = std::mem::replace(self, own);
        }
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
    fn a_buffer_is_lent() {
        let sent: Vec<u8> = (0..600_000_u32).map(|at| (at % 251) as u8).collect();
        let mut spare = Input::default();
        let mut inputs = [Input::default(), Input::default()];
        let mut from = [sent.as_slice(), sent.as_slice()];
        let mut taken = [Vec::new(), Vec::new()];
        for turn in 0..200 {
            let (input, from, taken) = (&mut inputs[turn % 2], &mut from[turn % 2], &mut taken[turn % 2]);
            input.borrow(&mut spare);
            let is_end = input.read(from).is_err();
            // Much stays, or little, or nothing.
            let left = if is_end { 0 } else { [0, 7, SMALL, SMALL + 1, 50_000][turn / 2 % 5] };
            let count = input.received().len().saturating_sub(left);
            taken.extend_from_slice(input.take(count));
            let kept = input.received().len();
            input.give_back(&mut spare);
            assert!(kept > SMALL || input.bytes.len() == kept, "{} bytes are kept for {kept}", input.bytes.len());
        }
        assert!(taken.iter().all(|taken| *taken == sent));
    }

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
