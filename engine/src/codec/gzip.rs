//! The gzip format (RFC 1952) around a raw deflate decoder. Every field of header and trailer is checked here, so an
//! error names the wrong field.
//!
//! ```text
//!   member:  1F 8B 08 FLG MTIME(4) XFL OS                        10 bytes
//!            [length(2) extra]  [name 00]  [comment 00]  [CRC16 of the header]      by FLG
//!            deflate blocks
//!            CRC32(4) LENGTH(4)                                  of the data, LENGTH modulo 2^32
//!   file:    member ... member [00 ... 00]                       zeros: a tape or a file system filled up a block
//! ```
//!
//! Rejected: zlib's own gzip mode, which knows one member and reports every fault as "data error".

use super::{CodecKind, Format, State, Step, corrupt, not_this_format, too_little_memory};
use yunti_base::Result;
use zlib_rs::crc32::crc32;
use zlib_rs::{Inflate, InflateFlush, Status};

/// Bytes of a decoder: the window of 32 KiB, the code tables and this struct (measured: 48 KiB).
pub const MEMORY_BYTES: u64 = 64 << 10;

const KIND: CodecKind = CodecKind::Gzip;
const WINDOW_BITS: u8 = 15;

const FLAG_HEADER_CRC: u8 = 1 << 1;
const FLAG_EXTRA: u8 = 1 << 2;
const FLAG_NAME: u8 = 1 << 3;
const FLAG_COMMENT: u8 = 1 << 4;
const FLAGS_RESERVED: u8 = 0b1110_0000;

/// Decoder of gzip members.
pub struct Gzip {
    inflate: Inflate,
    phase: Phase,
    flags: u8,
    /// Checksum of the header, then of the data.
    crc: u32,
    /// Length of the data, modulo 2^32.
    length: u32,
    /// Bytes of the current fixed-size field, gathered over calls.
    field: [u8; 10],
    field_bytes: usize,
    first_member: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// First ten bytes of a member; the file may end before them.
    Fixed,
    ExtraLength,
    Extra {
        left: u16,
    },
    Name,
    Comment,
    HeaderCrc,
    Body,
    Trailer,
    /// Zeros after the last member.
    Padding,
}

impl Gzip {
    /// Returns a decoder. Fails with `Code::Memory` if the limit is below `MEMORY_BYTES`.
    pub fn new(memory_limit_bytes: u64) -> Result<Self> {
        if memory_limit_bytes < MEMORY_BYTES {
            return Err(too_little_memory(KIND, MEMORY_BYTES, memory_limit_bytes));
        }
        Ok(Gzip {
            inflate: Inflate::new(false, WINDOW_BITS),
            phase: Phase::Fixed,
            flags: 0,
            crc: 0,
            length: 0,
            field: [0; 10],
            field_bytes: 0,
            first_member: true,
        })
    }

    /// Takes bytes of a field of `wanted` bytes from the input; returns true when it is complete.
    fn gather(&mut self, input: &[u8], read: &mut usize, wanted: usize) -> bool {
        let take = (wanted - self.field_bytes).min(input.len() - *read);
        self.field[self.field_bytes..][..take].copy_from_slice(&input[*read..][..take]);
        self.field_bytes += take;
        *read += take;
        let complete = self.field_bytes == wanted;
        if complete {
            self.field_bytes = 0;
        }
        complete
    }

    /// Returns the part of the header that follows `done`, by the flags.
    fn header_part_after(&self, done: Phase) -> Phase {
        let parts = [
            (Phase::ExtraLength, FLAG_EXTRA),
            (Phase::Name, FLAG_NAME),
            (Phase::Comment, FLAG_COMMENT),
            (Phase::HeaderCrc, FLAG_HEADER_CRC),
        ];
        let next = match done {
            Phase::Fixed => 0,
            Phase::ExtraLength | Phase::Extra { .. } => 1,
            Phase::Name => 2,
            Phase::Comment => 3,
            _ => 4,
        };
        parts[next..].iter().find(|(_, flag)| self.flags & flag != 0).map_or(Phase::Body, |&(part, _)| part)
    }

    /// Reads header bytes from `input[read..]`, one part of the header per call.
    fn header(&mut self, input: &[u8], at: u64) -> Result<usize> {
        let mut read = 0;
        let done = match self.phase {
            Phase::Fixed => {
                // Byte by byte, so that even a short file of another format is identified.
                let index = self.field_bytes;
                match (index, input[0]) {
                    (0, 0) if !self.first_member => {
                        self.phase = Phase::Padding;
                        return Ok(0);
                    }
                    (0, 0x1F) | (1, 0x8B) | (2, 8) | (4.., _) => {}
                    (3, flags) if flags & FLAGS_RESERVED == 0 => {}
                    (0 | 1, _) => return Err(not_this_format(KIND, self.first_member).at_offset(at - index as u64)),
                    _ => {
                        return Err(corrupt(KIND, "the gzip header has an unknown method or flags").at_offset(at));
                    }
                }
                if index == 0 {
                    self.crc = 0;
                }
                // The first four bytes are checked one by one; the rest is taken at once.
                let end = if index < 4 { 1 } else { input.len() };
                self.gather(&input[..end], &mut read, 10)
            }
            Phase::ExtraLength => self.gather(input, &mut read, 2),
            Phase::Extra { left } => {
                read = input.len().min(left as usize);
                self.phase = Phase::Extra { left: left - read as u16 };
                self.phase == Phase::Extra { left: 0 }
            }
            Phase::Name | Phase::Comment => {
                let end = input.iter().position(|&byte| byte == 0);
                read = end.map_or(input.len(), |end| end + 1);
                end.is_some()
            }
            Phase::HeaderCrc => self.gather(input, &mut read, 2),
            Phase::Body | Phase::Trailer | Phase::Padding => unreachable!("not a part of the header"),
        };
        if self.phase != Phase::HeaderCrc {
            self.crc = crc32(self.crc, &input[..read]);
        }
        if !done {
            return Ok(read);
        }

        let two = u16::from_le_bytes([self.field[0], self.field[1]]);
        match self.phase {
            Phase::Fixed => self.flags = self.field[3],
            Phase::ExtraLength if two > 0 => {
                self.phase = Phase::Extra { left: two };
                return Ok(read);
            }
            Phase::HeaderCrc if two != self.crc as u16 => {
                return Err(
                    corrupt(KIND, "the checksum of the gzip header does not match").at_offset(at + read as u64 - 2)
                );
            }
            _ => {}
        }
        self.phase = self.header_part_after(self.phase);
        if self.phase == Phase::Body {
            self.inflate.reset(false);
            (self.crc, self.length) = (0, 0);
        }
        Ok(read)
    }

    fn body(&mut self, input: &[u8], output: &mut [u8], at: u64) -> Result<(usize, usize)> {
        let (in_before, out_before) = (self.inflate.total_in(), self.inflate.total_out());
        let status = self.inflate.decompress(input, output, InflateFlush::NoFlush);
        let read = (self.inflate.total_in() - in_before) as usize;
        let written = (self.inflate.total_out() - out_before) as usize;
        match status {
            Ok(Status::Ok | Status::BufError) => {}
            Ok(Status::StreamEnd) => self.phase = Phase::Trailer,
            Err(error) => {
                let why = self.inflate.error_message().unwrap_or(error.as_str());
                return Err(corrupt(KIND, format!("the gzip data is damaged ({why})")).at_offset(at + read as u64));
            }
        }
        self.crc = crc32(self.crc, &output[..written]);
        self.length = self.length.wrapping_add(written as u32);
        Ok((read, written))
    }

    fn trailer(&mut self, input: &[u8], at: u64) -> Result<usize> {
        let mut read = 0;
        if self.gather(input, &mut read, 8) {
            let begin = at + read as u64 - 8;
            let word = |i: usize| u32::from_le_bytes(self.field[i..i + 4].try_into().unwrap());
            if word(0) != self.crc {
                return Err(corrupt(KIND, "the checksum of the gzip data does not match").at_offset(begin));
            }
            if word(4) != self.length {
                return Err(corrupt(KIND, "the length of the gzip data does not match").at_offset(begin + 4));
            }
            self.phase = Phase::Fixed;
            self.first_member = false;
        }
        Ok(read)
    }
}

impl Format for Gzip {
    const KIND: CodecKind = KIND;

    fn step(&mut self, input: &[u8], output: &mut [u8], at: u64) -> Result<Step> {
        let (mut read, mut written) = (0, 0);
        // Headers and trailers pass in one step; a body ends the step.
        while written == 0 && (read < input.len() || self.phase == Phase::Body) {
            let (rest, here) = (&input[read..], at + read as u64);
            match self.phase {
                Phase::Body => {
                    let (r, w) = self.body(rest, output, here)?;
                    read += r;
                    written += w;
                    if r == 0 && w == 0 && self.phase == Phase::Body {
                        break;
                    }
                }
                Phase::Trailer => read += self.trailer(rest, here)?,
                Phase::Padding => match rest.iter().position(|&byte| byte != 0) {
                    None => read = input.len(),
                    Some(zeros) => return Err(not_this_format(KIND, false).at_offset(here + zeros as u64)),
                },
                _ => read += self.header(rest, here)?,
            }
        }
        let between = self.phase == Phase::Padding || (self.phase == Phase::Fixed && self.field_bytes == 0);
        Ok(Step { read, written, state: if between { State::End } else { State::More } })
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{changed, check, check_error};
    use super::*;
    use yunti_base::Code;

    /// `printf 'cloud ladder\n' | gzip -n`
    const PLAIN: &[u8] = &[
        0x1F, 0x8B, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x03, 0x4B, 0xCE, 0xC9, 0x2F, 0x4D, 0x51, 0xC8, 0x49,
        0x4C, 0x49, 0x49, 0x2D, 0xE2, 0x02, 0x00, 0x51, 0xFF, 0x28, 0x5E, 0x0D, 0x00, 0x00, 0x00,
    ];
    const TEXT: &[u8] = b"cloud ladder\n";

    /// `PLAIN` with the header fields that `flags` names, the last of them the checksum.
    fn member(flags: u8, extra: &[u8], name: &[u8], comment: &[u8]) -> Vec<u8> {
        let mut out = PLAIN[..10].to_vec();
        out[3] = flags;
        if flags & FLAG_EXTRA != 0 {
            out.extend((extra.len() as u16).to_le_bytes());
            out.extend(extra);
        }
        if flags & FLAG_NAME != 0 {
            out.extend(name);
            out.push(0);
        }
        if flags & FLAG_COMMENT != 0 {
            out.extend(comment);
            out.push(0);
        }
        if flags & FLAG_HEADER_CRC != 0 {
            let crc = crc32(0, &out) as u16;
            out.extend(crc.to_le_bytes());
        }
        out.extend(&PLAIN[10..]);
        out
    }

    #[test]
    fn decodes_every_combination_of_header_fields() {
        let mut all = Vec::new();
        for flags in 0..32 {
            for extra in [&b""[..], &[0; 300], b"\x1F\x8B\x08"] {
                let file = member(flags, extra, b"name", b"");
                check(KIND, &file, TEXT);
                all.extend(file);
            }
        }
        check(KIND, &all, &TEXT.repeat(32 * 3));
        check(KIND, &member(31, &[7; 65_535], &[b'n'; 5000], &[b'c'; 5000]), TEXT);
    }

    #[test]
    fn names_each_wrong_field_and_its_offset() {
        let change = |at, value| changed(PLAIN, at, value);
        let n = PLAIN.len();
        let mut header_crc = member(FLAG_HEADER_CRC, b"", b"", b"");
        header_crc[10] ^= 1;
        let table: &[(&[u8], &str, u64)] = &[
            (b"plain text, not compressed", "this is not gzip data", 0),
            (b"p", "this is not gzip data", 0),
            (b"\x1F", "the gzip data is cut short", 1),
            (b"\x1F\x9D\x90", "this is not gzip data", 0),
            (&[0; 20], "this is not gzip data", 0),
            (&change(0, b'x'), "the gzip data is followed by bytes that are not gzip data", n as u64),
            (&change(1, b'x'), "the gzip data is followed by bytes that are not gzip data", n as u64),
            (&change(2, 7), "the gzip header has an unknown method or flags", n as u64 + 2),
            (&change(3, 0x20), "the gzip header has an unknown method or flags", n as u64 + 3),
            (&change(10, 0x4F), "the gzip data is damaged (invalid block type)", n as u64 + 11),
            (&change(n - 8, 0), "the checksum of the gzip data does not match", 2 * n as u64 - 8),
            (&change(n - 1, 1), "the length of the gzip data does not match", 2 * n as u64 - 4),
            (&header_crc, "the checksum of the gzip header does not match", 10),
            (&PLAIN[..n - 1], "the gzip data is cut short", n as u64 - 1),
            (
                &[PLAIN, &[0; 5], b"x"].concat(),
                "the gzip data is followed by bytes that are not gzip data",
                n as u64 + 5,
            ),
            // Data after zeros would be lost by a reader that stops at them.
            (
                &[PLAIN, &[0; 5], PLAIN].concat(),
                "the gzip data is followed by bytes that are not gzip data",
                n as u64 + 5,
            ),
        ];
        for (file, what, offset) in table {
            check_error(KIND, file, Code::Corrupt, what, *offset..=*offset);
        }
    }

    #[test]
    fn skips_zeros_after_the_last_member() {
        for zeros in [1, 2, 511, 10_000] {
            check(KIND, &[PLAIN, &vec![0; zeros]].concat(), TEXT);
        }
    }

    #[test]
    fn refuses_a_limit_below_any_gzip_data() {
        let error = Gzip::new(MEMORY_BYTES - 1).err().unwrap();
        assert_eq!(error.code(), Code::Memory);
        assert!(error.what().contains("needs 64 KiB of memory, its reader may use 63 KiB"), "{error}");
    }
}
