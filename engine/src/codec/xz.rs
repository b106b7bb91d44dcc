//! The xz format over liblzma. Streams and the padding between them are separated here, so that every stream end is
//! known and errors carry the offset.
//!
//! ```text
//!   stream:  FD '7zXZ' 00 flags(2) CRC32(4)    blocks    index    CRC32(4) size(4) flags(2) 'YZ'
//!   file:    stream [00 00 00 00]* stream [00 00 00 00]* ...      padding in fours, after a stream only
//! ```
//!
//! Rejected: liblzma's `LZMA_CONCATENATED`, which does the same but cannot report where a stream ended.
//!
//! Limit: one core per stream, a little faster than `xz -dT1`. `read/parts/xz.rs` cuts files into blocks and streams.

use super::{CodecKind, Format, State, Step, corrupt, not_this_format, too_little_memory};
use liblzma::stream::{Action, Error as XzError, Status, Stream, TELL_UNSUPPORTED_CHECK};
use yunti_base::{Code, Error, Result};

/// Bytes of a decoder: a dictionary of 64 MiB, as `xz -9` writes, and the base of any dictionary.
pub const MEMORY_BYTES: u64 = (64 << 20) + BASE_BYTES;

/// Bytes of the decoder's state (100 KiB) and liblzma's margin, rounded up.
const BASE_BYTES: u64 = 2 << 20;

const KIND: CodecKind = CodecKind::Xz;
const MAGIC: &[u8] = b"\xFD7zXZ\0";

/// Decoder of xz streams.
pub struct Xz {
    memory_limit_bytes: u64,
    /// Decoder of the current stream; `None` between streams.
    stream: Option<Stream>,
    stream_begin: u64,
    first_stream: bool,
    /// Zero bytes since the last stream, modulo 4.
    padding: u8,
}

impl Xz {
    /// Returns a decoder.
    pub fn new(memory_limit_bytes: u64) -> Result<Self> {
        Ok(Xz { memory_limit_bytes, stream: None, stream_begin: 0, first_stream: true, padding: 0 })
    }

    fn between_streams(&mut self, input: &[u8], at: u64) -> Result<usize> {
        let zeros = match self.first_stream {
            true => 0,
            false => input.iter().take_while(|&&byte| byte == 0).count(),
        };
        self.padding = ((self.padding as usize + zeros) % 4) as u8;
        if let Some(&byte) = input.get(zeros) {
            // The first byte is checked before a decoder is made; liblzma checks the rest.
            if self.padding != 0 || byte != MAGIC[0] {
                return Err(not_this_format(KIND, self.first_stream).at_offset(at + zeros as u64));
            }
            let stream = Stream::new_stream_decoder(self.memory_limit_bytes, TELL_UNSUPPORTED_CHECK)
                .map_err(|_| Error::new(Code::Memory, "no memory for an xz decoder"))?;
            self.stream = Some(stream);
            self.stream_begin = at + zeros as u64;
        }
        Ok(zeros)
    }

    fn fault(&mut self, error: XzError) -> Error {
        match error {
            XzError::MemLimit => {
                let needed = self.stream.as_mut().map_or(0, memory_needed_bytes);
                too_little_memory(KIND, needed, self.memory_limit_bytes)
            }
            XzError::Mem => Error::new(Code::Memory, "no memory for the dictionary of this xz data"),
            XzError::Format => not_this_format(KIND, self.first_stream).at_offset(self.stream_begin),
            XzError::Options => {
                Error::new(Code::Input, "this xz data uses something that the xz format has not defined yet")
                    .hint("compress the file again without special filters")
            }
            XzError::UnsupportedCheck | XzError::NoCheck => {
                Error::new(Code::Input, "this xz data has a checksum of a kind that the xz format has not defined yet")
                    .hint("compress the file again with --check=crc64")
            }
            // liblzma does not distinguish a wrong checksum from other damage.
            XzError::Data => corrupt(KIND, "the xz data is damaged or its checksum does not match"),
            XzError::Program => Error::new(Code::Internal, "the xz decoder was called wrongly"),
        }
    }
}

/// Returns the memory that a stream stopped at its limit needs. liblzma reveals it only by trying limits.
fn memory_needed_bytes(stream: &mut Stream) -> u64 {
    let (mut refused, mut enough) = (stream.memlimit(), 1 << 40);
    while enough - refused > 1 {
        let middle = refused + (enough - refused) / 2;
        match stream.set_memlimit(middle) {
            Ok(()) => enough = middle,
            Err(_) => refused = middle,
        }
    }
    enough
}

impl Format for Xz {
    const KIND: CodecKind = KIND;

    fn step(&mut self, input: &[u8], output: &mut [u8], at: u64) -> Result<Step> {
        let mut read = match self.stream {
            None => self.between_streams(input, at)?,
            Some(_) => 0,
        };
        let mut written = 0;
        if let Some(stream) = &mut self.stream {
            let (in_before, out_before) = (stream.total_in(), stream.total_out());
            let status = stream.process(&input[read..], output, Action::Run);
            read += (stream.total_in() - in_before) as usize;
            written = (stream.total_out() - out_before) as usize;
            match status {
                Ok(Status::StreamEnd) => {
                    self.stream = None;
                    self.first_stream = false;
                    self.padding = 0;
                }
                Ok(_) => {}
                Err(error) => return Err(self.fault(error).at_offset(at + read as u64)),
            }
        }
        let between = self.stream.is_none() && self.padding == 0;
        Ok(Step { read, written, state: if between { State::End } else { State::More } })
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{changed, check, check_error, decode_all, text};
    use super::*;
    use liblzma::stream::Check;
    use std::ops::RangeInclusive;

    /// `printf 'cloud ladder\n' | xz -c`
    const PLAIN: &[u8] = &[
        0xFD, 0x37, 0x7A, 0x58, 0x5A, 0x00, 0x00, 0x04, 0xE6, 0xD6, 0xB4, 0x46, 0x02, 0x00, 0x21, 0x01, 0x16, 0x00,
        0x00, 0x00, 0x74, 0x2F, 0xE5, 0xA3, 0x01, 0x00, 0x0C, 0x63, 0x6C, 0x6F, 0x75, 0x64, 0x20, 0x6C, 0x61, 0x64,
        0x64, 0x65, 0x72, 0x0A, 0x00, 0x00, 0x00, 0x00, 0x79, 0xA1, 0xC5, 0xC3, 0xD1, 0xA1, 0x48, 0x52, 0x00, 0x01,
        0x25, 0x0D, 0x71, 0x19, 0xC4, 0xB6, 0x1F, 0xB6, 0xF3, 0x7D, 0x01, 0x00, 0x00, 0x00, 0x00, 0x04, 0x59, 0x5A,
    ];
    const TEXT: &[u8] = b"cloud ladder\n";

    fn encode(data: &[u8], preset: u32, check: Check) -> Vec<u8> {
        let mut stream = Stream::new_easy_encoder(preset, check).unwrap();
        let mut out = Vec::with_capacity(data.len() + 1024);
        let mut read = 0;
        while stream.process_vec(&data[read..], &mut out, Action::Finish).unwrap() != Status::StreamEnd {
            read = stream.total_in() as usize;
            out.reserve(1024);
        }
        out
    }

    #[test]
    fn decodes_every_check_and_padding() {
        let data = text(5000);
        for check_kind in [Check::None, Check::Crc32, Check::Crc64, Check::Sha256] {
            check(KIND, &encode(&data, 0, check_kind), &data);
        }
        check(KIND, PLAIN, TEXT);
        for padding in [0, 4, 8, 400] {
            check(KIND, &[PLAIN, &vec![0; padding], PLAIN, &vec![0; padding]].concat(), &TEXT.repeat(2));
        }
    }

    #[test]
    fn names_each_fault_and_its_offset() {
        let n = PLAIN.len();
        let damaged = "the xz data is damaged or its checksum does not match";
        let change = |at, value| changed(PLAIN, at, value);
        let table: &[(&[u8], &str, RangeInclusive<u64>)] = &[
            (b"text", "this is not xz data", 0..=0),
            (&[0; 8], "this is not xz data", 0..=0),
            (b"\xFD7zXY\0 text..", "this is not xz data", 0..=0),
            (b"\xFD", "the xz data is cut short", 1..=1),
            (&[PLAIN, &[0; 3]].concat(), "the xz data is cut short", n as u64 + 3..=n as u64 + 3),
            (
                &[PLAIN, &[0; 3], PLAIN].concat(),
                "the xz data is followed by bytes that are not xz data",
                n as u64 + 3..=n as u64 + 3,
            ),
            (
                &[PLAIN, &[0; 4], b"x"].concat(),
                "the xz data is followed by bytes that are not xz data",
                n as u64 + 4..=n as u64 + 4,
            ),
            (&change(0, 0), "the xz data is followed by bytes that are not xz data", n as u64 + 1..=n as u64 + 1),
            (&change(5, 1), "the xz data is followed by bytes that are not xz data", n as u64..=n as u64),
            (&change(27, b'C'), damaged, n as u64 + 40..=n as u64 + 52),
            (&PLAIN[..n - 1], "the xz data is cut short", n as u64 - 1..=n as u64 - 1),
        ];
        for (file, what, offset) in table {
            check_error(KIND, file, Code::Corrupt, what, offset.clone());
        }
    }

    #[test]
    fn enforces_the_limit_and_names_a_sufficient_one() {
        let data = text(1000);
        for (preset, dictionary_mib) in [(0, 0), (6, 8), (9, 64)] {
            let file = encode(&data, preset, Check::Crc64);
            let error = decode_all(KIND, 1, &file, (file.len(), 2000)).unwrap_err();
            assert_eq!((error.code(), error.offset().is_some()), (Code::Memory, true), "{error}");
            let enough = (1..).find(|&mib| decode_all(KIND, mib << 20, &file, (7, 2000)).is_ok()).unwrap();
            assert!(enough == dictionary_mib + 1, "preset {preset}: {enough} MiB");
            if preset > 0 {
                assert!(
                    error.what().contains(&format!("needs {enough} MiB of memory, its reader may use 0 KiB")),
                    "{error}"
                );
            }
            assert!(enough << 20 <= MEMORY_BYTES);
        }
    }
}
