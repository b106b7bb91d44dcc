//! Runs of bytes, and the booleans in their bits.
//!
//! ```text
//!   head 0..127     head + 3 times the next byte
//!   head 128..255   256 - head bytes as they are
//! ```

use yunti_api::Result;

use crate::orc::store::Stream;

/// Bytes in runs.
pub struct ByteRuns {
    stream: Stream,
    /// Bytes that are left of the run.
    left: usize,
    /// The byte that repeats; None: the bytes stand in the stream.
    repeated: Option<u8>,
}

impl ByteRuns {
    pub fn new(stream: Stream) -> ByteRuns {
        ByteRuns { stream, left: 0, repeated: None }
    }

    #[inline]
    pub fn next(&mut self) -> Result<u8> {
        if self.left == 0 {
            let head = self.stream.byte()?;
            (self.left, self.repeated) = match head {
                0..128 => (usize::from(head) + 3, Some(self.stream.byte()?)),
                _ => (256 - usize::from(head), None),
            };
        }
        self.left -= 1;
        match self.repeated {
            Some(byte) => Ok(byte),
            None => self.stream.byte(),
        }
    }
}

/// Booleans: the bits of bytes in runs, the highest first.
pub struct Bits {
    bytes: ByteRuns,
    byte: u8,
    left: u32,
}

impl Bits {
    pub fn new(stream: Stream) -> Bits {
        Bits { bytes: ByteRuns::new(stream), byte: 0, left: 0 }
    }

    #[inline]
    pub fn next(&mut self) -> Result<bool> {
        if self.left == 0 {
            (self.byte, self.left) = (self.bytes.next()?, 8);
        }
        self.left -= 1;
        Ok(self.byte >> self.left & 1 == 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::orc::decode::tests::stream;

    #[test]
    fn runs_of_the_specification() {
        let mut runs = ByteRuns::new(stream(b"\x61\x00\xfe\x44\x45"));
        for _ in 0..100 {
            assert_eq!(runs.next().ok(), Some(0));
        }
        assert_eq!((runs.next().ok(), runs.next().ok()), (Some(0x44), Some(0x45)));
        assert!(runs.next().is_err());
        let mut bits = Bits::new(stream(b"\xff\x80"));
        assert_eq!(bits.next().ok(), Some(true));
        for _ in 0..7 {
            assert_eq!(bits.next().ok(), Some(false));
        }
        assert!(bits.next().is_err());
    }
}
