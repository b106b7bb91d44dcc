//! The zstd format (RFC 8878) over the reference library. Frame headers are read here first, so a frame that needs too
//! much memory is refused by name before any is taken.
//!
//! ```text
//!   frame:      28 B5 2F FD  descriptor  [window]  [dictionary id]  [content size]    blocks    [checksum(4)]
//!   skippable:  5x 2A 4D 18  size(4)     bytes to skip
//!   file:       any number of both, in any order
//! ```
//!
//! Rejected: the library's own limit (`windowLogMax`). It knows only powers of two, and does not apply if a whole frame
//! is in one input. The same file would pass or fail depending on the reads.

use super::{CodecKind, Format, State, Step, corrupt, not_this_format, too_little_memory};
use yunti_base::{Code, Error, Result};
use zstd_safe::zstd_sys::ZSTD_ErrorCode;
use zstd_safe::{DCtx, DParameter, InBuffer, OutBuffer};

/// Bytes of a decoder: a window of 8 MiB, the largest of levels 1 to 19, and the base of any window.
pub const MEMORY_BYTES: u64 = (8 << 20) + BASE_BYTES;

/// Bytes of the context (about 160 KiB), the input block (128 KiB) and the room behind the window (256 KiB), rounded
/// up.
const BASE_BYTES: u64 = 1 << 20;

const KIND: CodecKind = CodecKind::Zstd;
const MAGIC: u32 = 0xFD2F_B528;
const MAGIC_SKIPPABLE: u32 = 0x184D_2A50;
const WINDOW_LOG_MAX: u32 = if cfg!(target_pointer_width = "64") { 31 } else { 30 };
/// Bytes of magic, descriptor, window, dictionary id and content size, at most.
const HEADER_BYTES_MAX: usize = 4 + 1 + 1 + 4 + 8;

/// Decoder of zstd frames.
pub struct Zstd {
    context: DCtx<'static>,
    memory_limit_bytes: u64,
    phase: Phase,
    header: [u8; HEADER_BYTES_MAX],
    header_bytes: usize,
    first_frame: bool,
}

enum Phase {
    /// Between frames, or in a header.
    Header,
    Frame,
    Skip {
        left: u32,
    },
}

impl Zstd {
    /// Returns a decoder. Fails with `Code::Memory` if the limit is below the base of any frame.
    pub fn new(memory_limit_bytes: u64) -> Result<Self> {
        if memory_limit_bytes < BASE_BYTES {
            return Err(too_little_memory(KIND, BASE_BYTES, memory_limit_bytes));
        }
        let no_memory = |_| Error::new(Code::Memory, "no memory for a zstd decoder");
        let mut context = DCtx::try_create().ok_or(0).map_err(no_memory)?;
        context.set_parameter(DParameter::WindowLogMax(WINDOW_LOG_MAX)).map_err(no_memory)?;
        Ok(Zstd {
            context,
            memory_limit_bytes,
            phase: Phase::Header,
            header: [0; HEADER_BYTES_MAX],
            header_bytes: 0,
            first_frame: true,
        })
    }

    /// Reads bytes of a header; a complete header opens the frame.
    fn header(&mut self, input: &[u8], at: u64) -> Result<usize> {
        let begin = at - self.header_bytes as u64;
        let mut read = 0;
        loop {
            let wanted = header_bytes_wanted(&self.header[..self.header_bytes])
                .ok_or_else(|| not_this_format(KIND, self.first_frame).at_offset(begin))?;
            if self.header_bytes == wanted {
                break;
            }
            // One byte at a time, so that even a short file of another format is identified.
            let Some(&byte) = input.get(read) else {
                return Ok(read);
            };
            self.header[self.header_bytes] = byte;
            self.header_bytes += 1;
            read += 1;
        }

        let header = &self.header[..self.header_bytes];
        self.header_bytes = 0;
        self.first_frame = false;
        if word(header, 0) != MAGIC {
            self.phase = match word(header, 4) {
                0 => Phase::Header,
                left => Phase::Skip { left },
            };
            return Ok(read);
        }
        let frame = FrameHeader::of(header);
        if frame.dictionary != 0 {
            return Err(Error::new(Code::Input, format!("this zstd data needs the dictionary {}", frame.dictionary))
                .at_offset(begin)
                .hint("compress the file again without a dictionary"));
        }
        let needed = frame.memory_bytes();
        if needed > self.memory_limit_bytes {
            return Err(too_little_memory(KIND, needed, self.memory_limit_bytes).at_offset(begin));
        }
        let mut header = InBuffer::around(header);
        let mut nothing: [u8; 0] = [];
        match self.context.decompress_stream(&mut OutBuffer::around(&mut nothing[..]), &mut header) {
            Ok(_) => self.phase = Phase::Frame,
            Err(code) => return Err(fault(code).at_offset(begin)),
        }
        Ok(read)
    }

    fn frame(&mut self, input: &[u8], output: &mut [u8], at: u64) -> Result<(usize, usize)> {
        let (mut from, mut to) = (InBuffer::around(input), OutBuffer::around(output));
        match self.context.decompress_stream(&mut to, &mut from) {
            Ok(0) => self.phase = Phase::Header,
            Ok(_) => {}
            Err(code) => return Err(fault(code).at_offset(at + from.pos() as u64)),
        }
        Ok((from.pos(), to.pos()))
    }
}

impl Format for Zstd {
    const KIND: CodecKind = KIND;

    fn step(&mut self, input: &[u8], output: &mut [u8], at: u64) -> Result<Step> {
        let (read, written) = match &mut self.phase {
            Phase::Header => (self.header(input, at)?, 0),
            Phase::Frame => self.frame(input, output, at)?,
            Phase::Skip { left } => {
                let read = input.len().min(*left as usize);
                *left -= read as u32;
                if *left == 0 {
                    self.phase = Phase::Header;
                }
                (read, 0)
            }
        };
        let between = matches!(self.phase, Phase::Header) && self.header_bytes == 0;
        Ok(Step { read, written, state: if between { State::End } else { State::More } })
    }
}

/// Requirements in a frame header.
struct FrameHeader {
    window_bytes: u64,
    dictionary: u32,
}

impl FrameHeader {
    /// Parses a complete header that begins with `MAGIC`.
    fn of(header: &[u8]) -> FrameHeader {
        let descriptor = header[4];
        let (window, dictionary, content) = field_bytes(descriptor);
        let little_endian = |at: usize, bytes: usize| {
            header[at..at + bytes].iter().rev().fold(0u64, |value, &byte| value << 8 | byte as u64)
        };
        let window_bytes = if window == 1 {
            let base = 1u64 << (10 + (header[5] >> 3));
            base + base / 8 * (header[5] & 7) as u64
        } else {
            // A single segment: the content itself is the window.
            little_endian(5 + dictionary, content) + if content == 2 { 256 } else { 0 }
        };
        FrameHeader { window_bytes, dictionary: little_endian(5 + window, dictionary) as u32 }
    }

    fn memory_bytes(&self) -> u64 {
        self.window_bytes.saturating_add(BASE_BYTES)
    }
}

/// Returns the sizes of window, dictionary id and content size after the descriptor.
fn field_bytes(descriptor: u8) -> (usize, usize, usize) {
    let single_segment = descriptor & 0x20 != 0;
    let content = match descriptor >> 6 {
        0 => single_segment as usize,
        n => 1 << n,
    };
    (!single_segment as usize, [0, 1, 2, 4][descriptor as usize & 3], content)
}

/// Returns the length of a header that begins with `so_far`, or the bytes needed to know it; None if no header begins
/// so.
fn header_bytes_wanted(so_far: &[u8]) -> Option<usize> {
    let begins = |magic: u32| so_far.iter().zip(magic.to_le_bytes()).all(|(&have, want)| have == want);
    let skippable = so_far.is_empty()
        || (so_far[0] & 0xF0 == 0x50
            && so_far.iter().zip(MAGIC_SKIPPABLE.to_le_bytes()).skip(1).all(|(&have, want)| have == want));
    match so_far.len() {
        0..=3 => (begins(MAGIC) || skippable).then_some(so_far.len() + 1),
        4 if begins(MAGIC) => Some(5),
        _ if begins(MAGIC) => {
            let (window, dictionary, content) = field_bytes(so_far[4]);
            Some(5 + window + dictionary + content)
        }
        _ => skippable.then_some(8),
    }
}

fn word(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap())
}

/// Translates the library's error.
fn fault(code: zstd_safe::ErrorCode) -> Error {
    let is = |known: ZSTD_ErrorCode| code == (known as usize).wrapping_neg();
    if is(ZSTD_ErrorCode::ZSTD_error_checksum_wrong) {
        corrupt(KIND, "the checksum of the zstd data does not match")
    } else if is(ZSTD_ErrorCode::ZSTD_error_memory_allocation) {
        Error::new(Code::Memory, "no memory for the window of this zstd data")
    } else {
        corrupt(KIND, format!("the zstd data is damaged ({})", zstd_safe::get_error_name(code)))
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{changed, check, check_error, decode_all, encode, text};
    use super::*;
    use std::ops::RangeInclusive;

    /// `printf 'cloud ladder\n' | zstd -c`
    const PLAIN: &[u8] = &[
        0x28, 0xB5, 0x2F, 0xFD, 0x04, 0x58, 0x69, 0x00, 0x00, 0x63, 0x6C, 0x6F, 0x75, 0x64, 0x20, 0x6C, 0x61, 0x64,
        0x64, 0x65, 0x72, 0x0A, 0x9D, 0x47, 0x62, 0x7B,
    ];
    const TEXT: &[u8] = b"cloud ladder\n";

    fn skippable(nibble: u8, content: &[u8]) -> Vec<u8> {
        let mut out = (MAGIC_SKIPPABLE + nibble as u32).to_le_bytes().to_vec();
        out.extend((content.len() as u32).to_le_bytes());
        out.extend(content);
        out
    }

    #[test]
    fn decodes_frames_and_skippable_frames_in_any_order() {
        let skip = skippable(0, b"");
        let long = skippable(15, &[0xFD; 70_000]);
        check(KIND, PLAIN, TEXT);
        check(KIND, &skip, b"");
        check(KIND, &[&skip, PLAIN, &long, &skip, PLAIN, &long].concat(), &TEXT.repeat(2));
    }

    #[test]
    fn names_each_fault_and_its_offset() {
        let n = PLAIN.len();
        let change = |at, value| changed(PLAIN, at, value);
        let table: &[(&[u8], &str, RangeInclusive<u64>)] = &[
            (b"text", "this is not zstd data", 0..=0),
            (b"\x28", "the zstd data is cut short", 1..=1),
            (b"\x28x", "this is not zstd data", 0..=0),
            (
                &[PLAIN, b"\0"].concat(),
                "the zstd data is followed by bytes that are not zstd data",
                n as u64..=n as u64,
            ),
            (&PLAIN[..n - 1], "the zstd data is cut short", n as u64 - 1..=n as u64 - 1),
            (&skippable(3, b"abc")[..10], "the zstd data is cut short", 10..=10),
            (&skippable(3, b"abc")[..6], "the zstd data is cut short", 6..=6),
            (&change(n - 1, 0), "the checksum of the zstd data does not match", n as u64 + 6..=2 * n as u64),
            (&change(6, 0x6F), "the zstd data is damaged (Data corruption detected)", n as u64 + 6..=n as u64 + 9),
        ];
        for (file, what, offset) in table {
            check_error(KIND, file, Code::Corrupt, what, offset.clone());
        }
    }

    #[test]
    fn names_a_required_dictionary() {
        let file = [&MAGIC.to_le_bytes()[..], &[0x01, 0x58, 77, 0, 0, 0]].concat();
        check_error(KIND, &file, Code::Input, "this zstd data needs the dictionary 77", 0..=0);
    }

    #[test]
    fn reads_header_fields_as_the_standard_defines() {
        // descriptor and fields, window, dictionary
        let table: &[(&[u8], u64, u32)] = &[
            (&[0x00, 0x00], 1 << 10, 0),
            (&[0x00, 0x07], (1 << 10) + 7 * 128, 0),
            (&[0x00, 0x58], 2 << 20, 0),
            (&[0x00, 0xFF], (1 << 41) + 7 * (1 << 38), 0),
            (&[0x20, 9], 9, 0),
            (&[0x60, 1, 1], 257 + 256, 0),
            (&[0xA0, 1, 2, 3, 4], 0x0403_0201, 0),
            (&[0xE0, 1, 0, 0, 0, 0, 0, 0, 0x80], 0x8000_0000_0000_0001, 0),
            (&[0x23, 4, 3, 2, 1, 5], 5, 0x0102_0304),
            (&[0x42, 0x58, 4, 3, 1, 1], 2 << 20, 0x0304),
        ];
        for (fields, window, dictionary) in table {
            let header = [&MAGIC.to_le_bytes()[..], fields].concat();
            assert_eq!(header_bytes_wanted(&header), Some(header.len()), "{fields:?}");
            let frame = FrameHeader::of(&header);
            assert_eq!((frame.window_bytes, frame.dictionary), (*window, *dictionary), "{fields:?}");
        }
    }

    #[test]
    fn enforces_the_limit_for_any_slices() {
        // 3 MB with its size in the header is one segment: the window is the content.
        let data = text(3 << 20);
        let file = encode(KIND, &data);
        let needed = FrameHeader::of(&file[..header_bytes_wanted(&file[..5]).unwrap()]).memory_bytes();
        for slices in [(1, 1 << 20), (file.len(), data.len() + 1)] {
            assert_eq!(decode_all(KIND, needed, &file, slices).unwrap(), data);
            let error = decode_all(KIND, needed - 1, &file, slices).unwrap_err();
            assert_eq!((error.code(), error.offset()), (Code::Memory, Some(0)), "{error}");
        }
        let huge = [&MAGIC.to_le_bytes()[..], &[0xE0], &[0xFF; 8], &[0; 3]].concat();
        let error = decode_all(KIND, 64 << 20, &huge, (100, 100)).unwrap_err();
        assert_eq!(error.code(), Code::Memory, "{error}");
    }

    #[test]
    fn context_fits_the_reserved_memory() {
        for window_log in [10, 17, 20, 23] {
            // A window of its own and no content size, so that the library takes all that it may.
            let mut header = MAGIC.to_le_bytes().to_vec();
            header.extend([0x00, (window_log - 10) << 3]);
            let block = [&[0x03, 0x00, 0x10][..], b"a"].concat(); // the last block: 'a' 131,072 times
            let file = [&header[..], &block].concat();
            let mut zstd = Zstd::new(1 << 30).unwrap();
            let mut output = [0; 10];
            let read = zstd.step(&file, &mut output, 0).unwrap().read;
            // A block may be no larger than the window, so small ones are refused here, after the buffers are taken.
            let _ = zstd.step(&file[read..], &mut output, read as u64);
            let taken = zstd.context.sizeof() as u64;
            assert!(
                taken > 1 << window_log && taken <= FrameHeader::of(&header).memory_bytes(),
                "{window_log}: {taken}"
            );
        }
    }
}
