//! Emitted records of a task, passed on once even if the task is tried again.
//!
//! User code is deterministic: from the same input, a second attempt emits the same bytes. Bytes that an earlier
//! attempt emitted are discarded, and checked by a running CRC-32C. Rejected: a rollback. A fold table has merged the
//! records already, and the records of a worker's splits lie in one collector.

use yunti_base::{Code, Error, Result};

/// Position in the emitted bytes of a task.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Position {
    bytes: u64,
    crc: u32,
}

/// Emitted bytes over all attempts of a task.
#[derive(Debug, Default)]
pub struct Replay {
    passed: Position,
    /// Position of an attempt that still repeats bytes.
    repeated: Option<Position>,
}

impl Replay {
    /// Begins another attempt, which emits the same bytes again.
    pub fn restart(&mut self) {
        self.repeated = (self.passed.bytes > 0).then(Position::default);
    }

    /// Returns true while the attempt emits what an earlier one has emitted.
    pub fn repeats(&self) -> bool {
        self.repeated.is_some()
    }

    /// Returns the part of a block that no earlier attempt emitted.
    ///
    /// Errors: `UserCode` if this attempt emitted other bytes than the earlier one.
    pub fn fresh<'b>(&mut self, block: &'b [u8]) -> Result<&'b [u8]> {
        let rest = &block[self.skip(block)?..];
        self.pass(rest);
        Ok(rest)
    }

    /// Returns the number of bytes at the front of a block that an earlier attempt emitted. Errors as `fresh`.
    pub fn skip(&mut self, block: &[u8]) -> Result<usize> {
        let Some(repeated) = &mut self.repeated else { return Ok(0) };
        let n = (self.passed.bytes - repeated.bytes).min(block.len() as u64) as usize;
        let crc = crc32c::crc32c_append(repeated.crc, &block[..n]);
        *repeated = Position { bytes: repeated.bytes + n as u64, crc };
        if repeated.bytes == self.passed.bytes {
            let same = *repeated == self.passed;
            self.repeated = None;
            if !same {
                return Err(differs());
            }
        }
        Ok(n)
    }

    /// Adds bytes that are emitted for the first time.
    pub fn pass(&mut self, fresh: &[u8]) {
        let Position { bytes, crc } = self.passed;
        self.passed = Position { bytes: bytes + fresh.len() as u64, crc: crc32c::crc32c_append(crc, fresh) };
    }

    /// Returns true for a record that no earlier attempt emitted. Errors as `fresh`.
    pub fn is_fresh(&mut self, key: &[u8], value: &[u8]) -> Result<bool> {
        let lengths = (key.len() as u64) << 32 | value.len() as u64;
        let mut is_fresh = false;
        for part in [&lengths.to_le_bytes()[..], key, value] {
            is_fresh |= !self.fresh(part)?.is_empty();
        }
        Ok(is_fresh)
    }

    /// Ends an attempt. Errors: `UserCode` if it emitted fewer bytes than the earlier one.
    pub fn finish(&self) -> Result<()> {
        if self.repeated.is_none() { Ok(()) } else { Err(differs()) }
    }
}

fn differs() -> Error {
    Error::new(Code::UserCode, "a second attempt of a task emitted other records than the first")
        .hint("attempts need deterministic code: the same input must give the same records; or set --attempts 1")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passes_bytes_once_and_finds_differences() {
        let mut replay = Replay::default();
        assert_eq!(replay.fresh(b"abcd").unwrap(), b"abcd");
        assert_eq!(replay.fresh(b"ef").unwrap(), b"ef");
        replay.restart();
        assert_eq!(replay.fresh(b"abc").unwrap(), b"");
        assert!(replay.finish().is_err());
        assert_eq!(replay.fresh(b"defgh").unwrap(), b"gh");
        replay.finish().unwrap();
        replay.restart();
        assert_eq!(replay.fresh(b"abcdefgh").unwrap(), b"");
        assert_eq!(replay.fresh(b"i").unwrap(), b"i");
        replay.restart();
        assert!(replay.fresh(b"abcXefghij").is_err());
    }

    #[test]
    fn passes_records_once() {
        let mut replay = Replay::default();
        assert!(replay.is_fresh(b"a", b"").unwrap() && replay.is_fresh(b"", b"b").unwrap());
        replay.restart();
        assert!(!replay.is_fresh(b"a", b"").unwrap() && !replay.is_fresh(b"", b"b").unwrap());
        assert!(replay.is_fresh(b"", b"").unwrap());
        replay.restart();
        replay.is_fresh(b"a", b"").unwrap();
        // The same bytes, divided differently.
        assert!(replay.is_fresh(b"b", b"").is_err() || replay.is_fresh(b"", b"").is_err());
    }
}
