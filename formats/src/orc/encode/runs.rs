//! Runs of bytes, and booleans as their bits (decode/runs.rs has the drawing).

use super::OutStream;

/// Bytes of a run, and of bytes as they are, at most.
const RUN_MAX: usize = 130;
const PLAIN_MAX: usize = 128;

/// Encoder of bytes.
#[derive(Default)]
pub struct ByteRuns {
    pub out: OutStream,
    waiting: Vec<u8>,
}

impl ByteRuns {
    pub fn push(&mut self, byte: u8) {
        self.waiting.push(byte);
        if self.waiting.len() == 4 * RUN_MAX {
            self.flush();
        }
    }

    /// Encodes all bytes that wait.
    pub fn flush(&mut self) {
        let mut rest = &self.waiting[..];
        while let Some(&first) = rest.first() {
            let same = rest.iter().take(RUN_MAX).take_while(|&&byte| byte == first).count();
            if same >= 3 {
                self.out.plain.extend_from_slice(&[(same - 3) as u8, first]);
                rest = &rest[same..];
                continue;
            }
            // Up to the next three bytes that are equal.
            let run = rest.windows(3).position(|three| three[0] == three[1] && three[1] == three[2]);
            let n = run.unwrap_or(rest.len()).min(PLAIN_MAX);
            self.out.plain.push((256 - n) as u8);
            self.out.plain.extend_from_slice(&rest[..n]);
            rest = &rest[n..];
        }
        self.waiting.clear();
    }
}

/// Encoder of booleans.
#[derive(Default)]
pub struct Bits {
    pub bytes: ByteRuns,
    byte: u8,
    n: u32,
}

impl Bits {
    pub fn push(&mut self, bit: bool) {
        self.byte = self.byte << 1 | u8::from(bit);
        self.n += 1;
        if self.n == 8 {
            self.bytes.push(self.byte);
            (self.byte, self.n) = (0, 0);
        }
    }

    /// Encodes all bits, the last byte filled up.
    pub fn flush(&mut self) {
        while self.n > 0 {
            self.push(false);
        }
        self.bytes.flush();
    }
}
