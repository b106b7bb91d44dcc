//! The encoder of gzip members and zlib streams, around the same deflate blocks.

use zlib_rs::crc32::crc32;
use zlib_rs::{Deflate, DeflateFlush, Status};

use super::{Encoder, failed};
use yunti_base::Result;

const WINDOW_BITS: u8 = 15;
/// A header without name and time, made on Unix.
const GZIP_HEADER: [u8; 10] = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3];
const BUFFER_BYTES: usize = 32 << 10;

/// Encoder of gzip members or zlib streams.
pub struct Flate {
    deflate: Deflate,
    gzip: bool,
    /// Set within a member.
    begun: bool,
    crc: u32,
    length: u32,
    buffer: Vec<u8>,
}

impl Flate {
    /// Returns an encoder of gzip members.
    pub fn gzip(level: i32) -> Flate {
        Flate::new(level, true)
    }

    /// Returns an encoder of zlib streams.
    pub fn zlib(level: i32) -> Flate {
        Flate::new(level, false)
    }

    fn new(level: i32, gzip: bool) -> Flate {
        let deflate = Deflate::new(level.min(9), !gzip, WINDOW_BITS);
        Flate { deflate, gzip, begun: false, crc: 0, length: 0, buffer: vec![0; BUFFER_BYTES] }
    }

    fn begin(&mut self, out: &mut Vec<u8>) {
        if !self.begun {
            self.begun = true;
            (self.crc, self.length) = (0, 0);
            if self.gzip {
                out.extend(GZIP_HEADER);
            }
        }
    }

    /// Compresses until the input is used up, or the stream ends.
    fn run(&mut self, mut bytes: &[u8], flush: DeflateFlush, out: &mut Vec<u8>) -> Result<()> {
        loop {
            let (in_before, out_before) = (self.deflate.total_in(), self.deflate.total_out());
            let status = self.deflate.compress(bytes, &mut self.buffer, flush);
            let status = status.map_err(|e| failed("deflate", e.as_str()))?;
            bytes = &bytes[(self.deflate.total_in() - in_before) as usize..];
            let written = (self.deflate.total_out() - out_before) as usize;
            out.extend_from_slice(&self.buffer[..written]);
            let done = match flush {
                DeflateFlush::Finish => status == Status::StreamEnd,
                _ => bytes.is_empty() && written < self.buffer.len(),
            };
            if done {
                return Ok(());
            }
        }
    }
}

impl Encoder for Flate {
    fn write(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> Result<()> {
        if bytes.is_empty() {
            return Ok(());
        }
        self.begin(out);
        if self.gzip {
            self.crc = crc32(self.crc, bytes);
            self.length = self.length.wrapping_add(bytes.len() as u32);
        }
        self.run(bytes, DeflateFlush::NoFlush, out)
    }

    fn finish(&mut self, out: &mut Vec<u8>) -> Result<()> {
        self.begin(out);
        self.run(&[], DeflateFlush::Finish, out)?;
        if self.gzip {
            out.extend(self.crc.to_le_bytes());
            out.extend(self.length.to_le_bytes());
        }
        self.deflate.reset();
        self.begun = false;
        Ok(())
    }
}
