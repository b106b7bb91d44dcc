//! The bzip2 format, one stream after the other. The decoder underneath is a port of the reference library to Rust.
//!
//! ```text
//!   stream:  'B' 'Z' 'h' '1'..'9'    blocks, each with a CRC32, not aligned to bytes    end mark, CRC32 of all
//!   file:    stream ... stream
//! ```
//!
//! Limit: one core per file, about as fast as `bzip2 -d` (15 to 40 MB/s). If records are lines, `read/bzip2/split.rs`
//! reads files in splits.

use super::{CodecKind, Format, State, Step, corrupt, not_this_format, too_little_memory};
use bzip2::{Decompress, Error as BzError, Status};
use yunti_base::{Code, Error, Result};

/// Bytes for the largest block of the format (900 kB, four bytes each) and the decoder's tables: no stream needs more.
pub const MEMORY_BYTES: u64 = 4 << 20;

const KIND: CodecKind = CodecKind::Bzip2;

/// Decoder of bzip2 streams.
pub struct Bzip2 {
    /// Decoder of the current stream; `None` between streams.
    stream: Option<Decompress>,
    stream_begin: u64,
    first_stream: bool,
}

impl Bzip2 {
    /// Returns a decoder. Fails with `Code::Memory` if the limit is below `MEMORY_BYTES`.
    pub fn new(memory_limit_bytes: u64) -> Result<Self> {
        if memory_limit_bytes < MEMORY_BYTES {
            return Err(too_little_memory(KIND, MEMORY_BYTES, memory_limit_bytes));
        }
        Ok(Bzip2 { stream: None, stream_begin: 0, first_stream: true })
    }
}

impl Format for Bzip2 {
    const KIND: CodecKind = KIND;

    fn step(&mut self, input: &[u8], output: &mut [u8], at: u64) -> Result<Step> {
        let stream = self.stream.get_or_insert_with(|| {
            self.stream_begin = at;
            Decompress::new(false)
        });
        let (in_before, out_before) = (stream.total_in(), stream.total_out());
        let status = stream.decompress(input, output);
        let read = (stream.total_in() - in_before) as usize;
        let written = (stream.total_out() - out_before) as usize;
        match status {
            Ok(Status::StreamEnd) => {
                self.stream = None;
                self.first_stream = false;
            }
            Ok(Status::MemNeeded) => return Err(Error::new(Code::Memory, "no memory for a bzip2 decoder")),
            Ok(_) => {}
            Err(BzError::DataMagic) => {
                return Err(not_this_format(KIND, self.first_stream).at_offset(self.stream_begin));
            }
            // The library does not distinguish a wrong checksum from other damage.
            Err(_) => {
                return Err(corrupt(KIND, "the bzip2 data is damaged or its checksum does not match")
                    .at_offset(at + read as u64));
            }
        }
        Ok(Step { read, written, state: if self.stream.is_none() { State::End } else { State::More } })
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{changed, check, check_error};
    use super::*;
    use std::ops::RangeInclusive;

    /// `printf 'cloud ladder\n' | bzip2 -c`
    const PLAIN: &[u8] = &[
        0x42, 0x5A, 0x68, 0x39, 0x31, 0x41, 0x59, 0x26, 0x53, 0x59, 0xFB, 0xC1, 0x43, 0x5F, 0x00, 0x00, 0x01, 0xD1,
        0x80, 0x00, 0x10, 0x40, 0x00, 0x2E, 0x04, 0x92, 0x00, 0x20, 0x00, 0x22, 0x00, 0xC2, 0x10, 0x03, 0x05, 0xC7,
        0x18, 0xD8, 0x04, 0x27, 0xE2, 0xEE, 0x48, 0xA7, 0x0A, 0x12, 0x1F, 0x78, 0x28, 0x6B, 0xE0,
    ];
    /// `bzip2 -c </dev/null`: a stream without blocks.
    const EMPTY: &[u8] = &[0x42, 0x5A, 0x68, 0x39, 0x17, 0x72, 0x45, 0x38, 0x50, 0x90, 0, 0, 0, 0];
    const TEXT: &[u8] = b"cloud ladder\n";

    #[test]
    fn decodes_concatenated_streams() {
        check(KIND, PLAIN, TEXT);
        check(KIND, EMPTY, b"");
        check(KIND, &[EMPTY, PLAIN, EMPTY, EMPTY, PLAIN].concat(), &TEXT.repeat(2));
    }

    #[test]
    fn names_each_fault_and_its_offset() {
        let n = PLAIN.len();
        let damaged = "the bzip2 data is damaged or its checksum does not match";
        let change = |at, value| changed(PLAIN, at, value);
        let table: &[(&[u8], &str, RangeInclusive<u64>)] = &[
            (b"text", "this is not bzip2 data", 0..=0),
            (b"BZh0", "this is not bzip2 data", 0..=0),
            (b"B", "the bzip2 data is cut short", 1..=1),
            (
                &[PLAIN, b"\0"].concat(),
                "the bzip2 data is followed by bytes that are not bzip2 data",
                n as u64..=n as u64,
            ),
            (&change(10, 0), damaged, 2 * n as u64 - 20..=2 * n as u64),
            (&change(n - 2, 0), damaged, 2 * n as u64 - 10..=2 * n as u64),
            (&PLAIN[..n - 1], "the bzip2 data is cut short", n as u64 - 1..=n as u64 - 1),
        ];
        for (file, what, offset) in table {
            check_error(KIND, file, Code::Corrupt, what, offset.clone());
        }
    }

    #[test]
    fn refuses_a_limit_below_the_largest_block() {
        assert_eq!(Bzip2::new(MEMORY_BYTES - 1).err().unwrap().code(), Code::Memory);
    }
}
