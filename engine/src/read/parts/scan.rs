//! Parts of a file by a scan behind each place where a cut is wanted: it finds bytes that may begin a member, and tries
//! them: a decoder must accept what follows. It reads little of a file, also where walks over lengths would be exact.
//!
//! ```text
//!   gzip      1F 8B 08 flags             RFC 1952; with a field `BC`, the block's length leads to the next (bgzf)
//!   zstd      28 B5 2F FD                  RFC 8878
//!   zlib      the first two bytes of the file      RFC 1950: one writer, one header
//!   snappy    00 or 01, length(3), CRC(4)          a chunk, which is decoded, so that its checksum decides
//! ```
//!
//! The trial keeps false members rare, and is no proof (see `part.rs`).

use memchr::memmem::Finder;

use super::SNAPPY_IDENTIFIER;
use super::cutter::Cutter;
use super::part::Part;
use super::window::Window;
use crate::codec::{self, CodecKind};
use crate::env::NamedFile;
use yunti_base::Result;

/// Bytes searched at a time.
const SCAN_BYTES: usize = if cfg!(debug_assertions) { 4000 } else { 256 << 10 };
/// Stored bytes of a trial, and decoded ones.
const TRIAL_BYTES: usize = if cfg!(debug_assertions) { 200 } else { 64 << 10 };
/// Trials in a file, at most: a file full of false members costs no more.
const TRIALS_MAX: usize = 2000;
/// Stored bytes of a chunk of snappy with its header, at most; and bytes within which one begins.
const CHUNK_BYTES_MAX: usize = 80 << 10;
/// Blocks of bgzf that must follow a candidate.
const BGZF_BLOCKS: usize = 3;

/// Beginning of a member.
#[derive(Clone, Copy)]
enum Form {
    Gzip { is_bgzf: bool },
    Zstd,
    Zlib { header: [u8; 2] },
    Snappy,
}

/// Returns the parts of a file of gzip members, zstd frames, zlib streams, or snappy's chunks. `reach_bytes`: longest
/// way from a place to the next member.
///
/// Errors: those of reads.
pub fn find(
    file: &NamedFile,
    file_bytes: u64,
    kind: CodecKind,
    target_bytes: u64,
    reach_bytes: u64,
) -> Result<Option<Vec<Part>>> {
    let mut scan = Scan { file, file_bytes, kind, reach_bytes, trials: 0 };
    let Some(form) = scan.form()? else { return Ok(None) };
    let mut cutter = Cutter::new(target_bytes, file_bytes);
    while let Some(from) = cutter.next_place() {
        let Some(at) = scan.next(form, from)? else { break };
        if !cutter.wants(at) {
            break;
        }
        let before = if let Form::Snappy = form { SNAPPY_IDENTIFIER.to_vec() } else { Vec::new() };
        cutter.cut(at, at, Vec::new(), before);
    }
    Ok(Some(cutter.finish()))
}

struct Scan<'a> {
    file: &'a NamedFile,
    file_bytes: u64,
    kind: CodecKind,
    reach_bytes: u64,
    trials: usize,
}

impl Scan<'_> {
    /// Returns the form of the file's first member.
    fn form(&self) -> Result<Option<Form>> {
        Ok(match self.kind {
            CodecKind::Gzip => {
                let mut head = [0; 18];
                let n = self.file.read_up_to(&mut head, 0)?;
                Some(Form::Gzip { is_bgzf: bgzf_bytes(&head[..n]).is_some() })
            }
            CodecKind::Deflate => {
                let mut header = [0; 2];
                (self.file.read_up_to(&mut header, 0)? == 2).then_some(Form::Zlib { header })
            }
            CodecKind::Zstd => Some(Form::Zstd),
            CodecKind::Snappy => Some(Form::Snappy),
            _ => None,
        })
    }

    /// Returns the first member at or behind `from` that passes the trial; None beyond the reach.
    fn next(&mut self, form: Form, from: u64) -> Result<Option<u64>> {
        match form {
            Form::Gzip { .. } => self.next_pattern(form, &[0x1F, 0x8B, 8], from),
            Form::Zstd => self.next_pattern(form, &[0x28, 0xB5, 0x2F, 0xFD], from),
            Form::Zlib { header } => self.next_pattern(form, &header, from),
            Form::Snappy => self.next_chunk(from),
        }
    }

    fn next_pattern(&mut self, form: Form, pattern: &[u8], from: u64) -> Result<Option<u64>> {
        let finder = Finder::new(pattern);
        let mut bytes = vec![0; SCAN_BYTES];
        let end = from.saturating_add(self.reach_bytes).min(self.file_bytes);
        let mut base = from;
        while base < end {
            let n = self.file.read_up_to(&mut bytes, base)?;
            for found in finder.find_iter(&bytes[..n]) {
                let at = base + found as u64;
                if self.trials >= TRIALS_MAX {
                    return Ok(None);
                }
                if self.is_member(form, at)? {
                    return Ok(Some(at));
                }
            }
            if n < bytes.len() {
                return Ok(None);
            }
            // The pattern may begin in the last bytes.
            base += (n - (pattern.len() - 1)) as u64;
        }
        Ok(None)
    }

    fn is_member(&mut self, form: Form, at: u64) -> Result<bool> {
        self.trials += 1;
        if let Form::Gzip { is_bgzf: true } = form
            && !self.are_bgzf_blocks(at)?
        {
            return Ok(false);
        }
        let mut bytes = vec![0; TRIAL_BYTES];
        let n = self.file.read_up_to(&mut bytes, at)?;
        Ok(self.decodes(&[&bytes[..n]]))
    }

    /// Returns true if blocks of bgzf follow one another from `at` on.
    fn are_bgzf_blocks(&self, mut at: u64) -> Result<bool> {
        for _ in 0..BGZF_BLOCKS {
            if at == self.file_bytes {
                break;
            }
            let mut head = [0; 18];
            let n = self.file.read_up_to(&mut head, at)?;
            let Some(bytes) = bgzf_bytes(&head[..n]) else { return Ok(false) };
            at += bytes;
        }
        Ok(true)
    }

    /// Returns true if a decoder accepts the pieces, one after the other, up to some output.
    fn decodes(&self, pieces: &[&[u8]]) -> bool {
        let Ok(mut decoder) = codec::decoder(self.kind, codec::memory_bytes(self.kind)) else { return false };
        let mut output = vec![0; TRIAL_BYTES];
        pieces.iter().all(|piece| decoder.decode(piece, &mut output, false).is_ok())
    }

    fn next_chunk(&mut self, from: u64) -> Result<Option<u64>> {
        let mut window = Window::new(self.file, 2 * CHUNK_BYTES_MAX);
        for at in from..from + CHUNK_BYTES_MAX as u64 {
            let head = window.bytes(at, 4)?;
            let &[kind, a, b, c] = head else { return Ok(None) };
            let length = u32::from_le_bytes([a, b, c, 0]) as usize;
            if kind > 1 || length < 5 || length + 4 > CHUNK_BYTES_MAX {
                continue;
            }
            let chunk = window.bytes(at, 4 + length)?;
            if chunk.len() < 4 + length {
                continue;
            }
            self.trials += 1;
            if self.trials > TRIALS_MAX {
                return Ok(None);
            }
            // The output must take the chunk whole, or its checksum is not compared.
            if self.decodes(&[&SNAPPY_IDENTIFIER, chunk]) {
                return Ok(Some(at));
            }
        }
        Ok(None)
    }
}

/// Returns the bytes of a block of bgzf, if its header says so in a first field `BC`.
fn bgzf_bytes(head: &[u8]) -> Option<u64> {
    let head: &[u8; 18] = head.try_into().ok()?;
    let is_bgzf = head[..4] == [0x1F, 0x8B, 8, 4] && head[12..16] == [b'B', b'C', 2, 0];
    is_bgzf.then(|| u64::from(u16::from_le_bytes([head[16], head[17]])) + 1)
}
