//! Stretches of a file as units: what begins in a stretch belongs to its unit.
//!
//! ```text
//!   number    offset: 48 bits | length in pieces of 64 KiB: 16 bits
//! ```
//!
//! A file has at most some tens of thousands of units, so that a plan has a bounded size.

use std::ops::Range;

use yunti_api::{Error, Result};

/// Bytes of a piece.
const PIECE_BYTES: u64 = 64 << 10;
/// Pieces of a stretch, at least.
const PIECES_MIN: u64 = 16;
/// Units of a file, about.
const UNITS_MAX: u64 = 32 << 10;

/// Length of the stretches of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stretch {
    pieces: u64,
}

impl Stretch {
    /// Returns the length for a file: 1 MiB, or more for a large file.
    pub fn of_file(len: u64) -> Stretch {
        Stretch::of_units(len, UNITS_MAX)
    }

    /// Returns the length for a file of about `units` stretches, or of fewer.
    pub fn of_units(len: u64, units: u64) -> Stretch {
        let pieces = len.div_ceil(units.min(UNITS_MAX)).div_ceil(PIECE_BYTES);
        Stretch { pieces: pieces.clamp(PIECES_MIN, u64::from(u16::MAX)) }
    }

    /// Returns the bytes of a stretch.
    pub fn bytes(self) -> u64 {
        self.pieces * PIECE_BYTES
    }

    /// Returns the stretches of a file.
    pub fn count(self, len: u64) -> u64 {
        len.div_ceil(self.bytes())
    }

    /// Returns the number of the unit that begins at an offset. Fails beyond 256 TiB.
    pub fn number(self, offset: u64) -> Result<u64> {
        match offset >> 48 {
            0 => Ok(offset << 16 | self.pieces),
            _ => Err(Error::unsupported("files of more than 256 TiB are not supported")),
        }
    }

    /// Returns the number of the unit that begins at an offset, and ends at `end` at the latest. Its stretch is empty
    /// if there is no room for a piece. Fails as `number` does.
    pub fn number_within(self, offset: u64, end: u64) -> Result<u64> {
        Stretch { pieces: self.pieces.min(end.saturating_sub(offset) / PIECE_BYTES) }.number(offset)
    }

    /// Returns the stretch of a unit.
    pub fn range(number: u64) -> Range<u64> {
        let start = number >> 16;
        start..start + (number & 0xffff) * PIECE_BYTES
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_back() {
        for (len, bytes) in [(0, 1 << 20), (1 << 30, 1 << 20), (1 << 40, 32 << 20), (1 << 47, 65535 << 16)] {
            let stretch = Stretch::of_file(len);
            assert_eq!(stretch.bytes(), bytes);
            let number = stretch.number(len).unwrap();
            assert_eq!(Stretch::range(number), len..len + bytes);
        }
        assert!(Stretch::of_file(0).number(1 << 48).is_err());
        for (end, bytes) in [(u64::MAX, 1 << 20), (100 + (1 << 20), 1 << 20), (99 + (1 << 20), 15 << 16), (101, 0)] {
            assert_eq!(Stretch::range(Stretch::of_file(0).number_within(100, end).unwrap()), 100..100 + bytes);
        }
    }
}
