//! The zlib format (RFC 1950), one stream after the other, as Hadoop's DefaultCodec writes it (`.deflate`).
//!
//! ```text
//!   stream:  CMF FLG    deflate blocks    Adler-32 of the data
//!   file:    stream ... stream
//! ```

use super::field::Field;
use super::{CodecKind, Format, State, Step, corrupt, not_this_format, too_little_memory};
use yunti_base::{Code, Error, Result};
use zlib_rs::{Inflate, InflateFlush, Status};

/// Bytes of a decoder, as for gzip.
pub const MEMORY_BYTES: u64 = super::gzip::MEMORY_BYTES;

const KIND: CodecKind = CodecKind::Deflate;
const WINDOW_BITS: u8 = 15;

/// Decoder of zlib streams.
pub struct Deflate {
    inflate: Inflate,
    /// First two bytes of a stream.
    header: Field<2>,
    within: bool,
    first_stream: bool,
}

impl Deflate {
    /// Returns a decoder. Fails with `Code::Memory` if the limit is below `MEMORY_BYTES`.
    pub fn new(memory_limit_bytes: u64) -> Result<Self> {
        if memory_limit_bytes < MEMORY_BYTES {
            return Err(too_little_memory(KIND, MEMORY_BYTES, memory_limit_bytes));
        }
        let inflate = Inflate::new(true, WINDOW_BITS);
        Ok(Deflate { inflate, header: Field::default(), within: false, first_stream: true })
    }

    fn header(&mut self, input: &[u8], at: u64) -> Result<usize> {
        let read = self.header.gather(input, 2);
        let here = at + read as u64 - self.header.have().len() as u64;
        let not_this = || not_this_format(KIND, self.first_stream).at_offset(here);
        if self.header.have().first().is_some_and(|cmf| cmf & 0x0F != 8 || cmf >> 4 > 7) {
            return Err(not_this());
        }
        let Some(bytes) = self.header.peek(2) else { return Ok(read) };
        if !u16::from_be_bytes([bytes[0], bytes[1]]).is_multiple_of(31) {
            return Err(not_this());
        }
        if bytes[1] & 0x20 != 0 {
            let error = Error::new(Code::Input, "this deflate data needs a dictionary");
            return Err(error.at_offset(here).hint("compress the file again without a dictionary"));
        }
        let bytes = self.header.take(2).expect("both are there");
        self.inflate.reset(true);
        self.inflate
            .decompress(&bytes, &mut [], InflateFlush::NoFlush)
            .map_err(|_| not_this_format(KIND, self.first_stream).at_offset(here))?;
        self.within = true;
        Ok(read)
    }
}

impl Format for Deflate {
    const KIND: CodecKind = KIND;

    fn step(&mut self, input: &[u8], output: &mut [u8], at: u64) -> Result<Step> {
        let (mut read, mut written) = (0, 0);
        if !self.within {
            read = self.header(input, at)?;
        }
        if self.within {
            let (in_before, out_before) = (self.inflate.total_in(), self.inflate.total_out());
            let status = self.inflate.decompress(&input[read..], output, InflateFlush::NoFlush);
            let taken = (self.inflate.total_in() - in_before) as usize;
            written = (self.inflate.total_out() - out_before) as usize;
            read += taken;
            match status {
                Ok(Status::Ok | Status::BufError) => {}
                Ok(Status::StreamEnd) => {
                    self.within = false;
                    self.first_stream = false;
                }
                Err(error) => {
                    let why = self.inflate.error_message().unwrap_or(error.as_str());
                    let error = corrupt(KIND, format!("the deflate data is damaged ({why})"));
                    return Err(error.at_offset(at + read as u64));
                }
            }
        }
        let between = !self.within && self.header.is_empty();
        Ok(Step { read, written, state: if between { State::End } else { State::More } })
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{changed, check, check_error};
    use super::*;
    use std::ops::RangeInclusive;

    /// `zlib.compress(b"cloud ladder\n")` of Python.
    const PLAIN: &[u8] = &[
        0x78, 0x9C, 0x4B, 0xCE, 0xC9, 0x2F, 0x4D, 0x51, 0xC8, 0x49, 0x4C, 0x49, 0x49, 0x2D, 0xE2, 0x02, 0x00, 0x22,
        0xDA, 0x04, 0xAE,
    ];
    const TEXT: &[u8] = b"cloud ladder\n";

    #[test]
    fn decodes_concatenated_streams() {
        check(KIND, PLAIN, TEXT);
        check(KIND, &PLAIN.repeat(3), &TEXT.repeat(3));
    }

    #[test]
    fn names_each_fault_and_its_offset() {
        let n = PLAIN.len();
        let change = |at, value| changed(PLAIN, at, value);
        let followed = "the deflate data is followed by bytes that are not deflate data";
        let table: &[(&[u8], Code, &str, RangeInclusive<u64>)] = &[
            (b"text", Code::Corrupt, "this is not deflate data", 0..=0),
            (b"x", Code::Corrupt, "the deflate data is cut short", 1..=1),
            (b"\x78\x9D", Code::Corrupt, "this is not deflate data", 0..=0),
            (&[PLAIN, b"\0"].concat(), Code::Corrupt, followed, n as u64..=n as u64),
            (b"\x78\x20\0\0\0\0", Code::Input, "this deflate data needs a dictionary", 0..=0),
            (
                &change(n - 1, 0),
                Code::Corrupt,
                "the deflate data is damaged (incorrect data check)",
                2 * n as u64 - 4..=2 * n as u64,
            ),
            (&PLAIN[..n - 1], Code::Corrupt, "the deflate data is cut short", n as u64 - 1..=n as u64 - 1),
        ];
        for (file, code, what, offset) in table {
            check_error(KIND, file, *code, what, offset.clone());
        }
    }
}
