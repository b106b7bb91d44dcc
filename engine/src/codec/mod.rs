//! Floor 4: compressed bytes: streaming decoders for whole compressed files, encoders (`encode/`), and the block codec
//! of spill runs. There is no I/O here and no threads; callers know every allocation.
//!
//! ```text
//!   compressed file           Stream<F>                     F: one format
//!   [member][member]... -->   counts offsets,          -->  gzip  zstd  bzip2  xz  deflate
//!                             detects truncation,           lz4, snappy: the tools' frames or Hadoop's blocks
//!                             always makes progress
//! ```
//!
//! All formats may be *concatenated*. A file is any number of members (gzip), frames (zstd, lz4), streams (bzip2, xz,
//! deflate) or blocks (snappy, Hadoop's), and decodes to their contents in order. A file of zero bytes has none: it is
//! truncated, as it is for Hadoop and for the tools.
//!
//! Bytes after the last member that do not start another member are an error, because their meaning is unknown (Hadoop
//! refuses them too, `gzip -d` warns). Only zero bytes after gzip members and the padding that the xz format defines
//! are skipped.
//!
//! A checksum is always verified if the format has one. gzip, bzip2, deflate and snappy's frames always have one; zstd,
//! lz4 and xz unless the writer left it out; Hadoop's blocks never. Without a checksum, damage inside a block of data
//! may go undetected, here as in every other reader.

mod bzip2;
pub mod bzip2_blocks;
mod deflate;
pub mod encode;
mod field;
mod framing;
mod gzip;
pub mod lz4_block;
mod xz;
mod zstd;

use std::path::Path;
use yunti_base::{Code, Error, Result};

/// Compressed formats that a reader recognises by the file name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CodecKind {
    /// gzip members (RFC 1952).
    Gzip,
    /// zstd frames (RFC 8878).
    Zstd,
    /// bzip2 streams.
    Bzip2,
    /// xz streams.
    Xz,
    /// Frames, or Hadoop's blocks.
    Lz4,
    /// Frames, or Hadoop's blocks.
    Snappy,
    /// zlib streams (RFC 1950), as Hadoop's DefaultCodec writes them.
    Deflate,
}

impl CodecKind {
    /// All formats.
    pub const ALL: [CodecKind; 7] = [
        CodecKind::Gzip,
        CodecKind::Zstd,
        CodecKind::Bzip2,
        CodecKind::Xz,
        CodecKind::Lz4,
        CodecKind::Snappy,
        CodecKind::Deflate,
    ];

    /// Returns the format of a file name, if it has one. Case counts, as in Hadoop: `a.GZ` is read as it is.
    pub fn from_path(path: &Path) -> Option<CodecKind> {
        let name = path.file_name()?.as_encoded_bytes();
        let ends = |extension: &&str| name.len() > extension.len() && name.ends_with(extension.as_bytes());
        CodecKind::ALL.into_iter().find(|kind| kind.extensions().iter().any(ends))
    }

    /// Returns the name in settings and messages.
    pub fn name(self) -> &'static str {
        match self {
            CodecKind::Gzip => "gzip",
            CodecKind::Zstd => "zstd",
            CodecKind::Bzip2 => "bzip2",
            CodecKind::Xz => "xz",
            CodecKind::Lz4 => "lz4",
            CodecKind::Snappy => "snappy",
            CodecKind::Deflate => "deflate",
        }
    }

    /// Returns the command line tool of the format, which has the option -t.
    pub fn tool(self) -> Option<&'static str> {
        (!matches!(self, CodecKind::Snappy | CodecKind::Deflate)).then(|| self.name())
    }

    /// Returns the file extensions with their dots, as in Hadoop's `getDefaultExtension` and the tools.
    pub fn extensions(self) -> &'static [&'static str] {
        match self {
            CodecKind::Gzip => &[".gz"],
            CodecKind::Zstd => &[".zst"],
            CodecKind::Bzip2 => &[".bz2"],
            CodecKind::Xz => &[".xz"],
            CodecKind::Lz4 => &[".lz4"],
            CodecKind::Snappy => &[".snappy", ".sz"],
            CodecKind::Deflate => &[".deflate"],
        }
    }
}

/// State of a decoder after a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Within a member: more input is needed, or more output is ready.
    More,
    /// At the end of a member; all of its data was returned and checked. The input may end here.
    End,
}

/// Progress of one call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// Bytes taken from the front of the input.
    pub read: usize,
    /// Bytes put at the front of the output.
    pub written: usize,
    /// State after the call.
    pub state: State,
}

/// A decoder of one compressed file, from its first byte to its last.
///
/// Call `decode` with the bytes behind the ones taken so far. Stop when the input has ended, everything is taken and
/// the state is `End`:
///
/// ```text
///   loop {
///       if input.is_empty() && !last { read more of the file; last = the file is at its end }
///       step = decoder.decode(input, output, last)?
///       use output[..step.written]; input = input[step.read..]
///       if last && input.is_empty() && step.state == End { break }
///   }
/// ```
///
/// The cuts between calls and the lengths of outputs do not affect the data. A file that ends too early is an error of
/// the call with `last`; the caller need not check. After an error, every further call returns this error.
pub trait Decoder: Send {
    /// Decodes some of `input` into `output`. `last`: no input follows after `input`.
    ///
    /// A call does as much as it can: it returns when `output` is full or `input` is used up. With an empty output it
    /// does nothing. It never blocks.
    ///
    /// Errors: `Corrupt` with the offset in the file, as precise as the format allows. `Memory` if the data needs more
    /// than the limit. `Input` for sound data that is not supported (a zstd dictionary).
    fn decode(&mut self, input: &[u8], output: &mut [u8], last: bool) -> Result<Step>;
}

/// Returns a decoder at the beginning of a file that uses at most `memory_limit_bytes`.
///
/// Errors: `Memory` if no data of this kind can be decoded within the limit.
pub fn decoder(kind: CodecKind, memory_limit_bytes: u64) -> Result<Box<dyn Decoder>> {
    Ok(match kind {
        CodecKind::Gzip => Box::new(Stream::new(gzip::Gzip::new(memory_limit_bytes)?)),
        CodecKind::Zstd => Box::new(Stream::new(zstd::Zstd::new(memory_limit_bytes)?)),
        CodecKind::Bzip2 => Box::new(Stream::new(bzip2::Bzip2::new(memory_limit_bytes)?)),
        CodecKind::Xz => Box::new(Stream::new(xz::Xz::new(memory_limit_bytes)?)),
        CodecKind::Lz4 => Box::new(Stream::new(framing::Lz4::new(memory_limit_bytes))),
        CodecKind::Snappy => Box::new(Stream::new(framing::Snappy::new(memory_limit_bytes))),
        CodecKind::Deflate => Box::new(Stream::new(deflate::Deflate::new(memory_limit_bytes)?)),
    })
}

/// Returns the bytes to reserve from the memory budget for a decoder, and to pass as its limit. They suffice for
/// everything that the tool of this name writes at levels up to 9 (zstd: 19).
///
/// * gzip and deflate 64 KiB, bzip2 4 MiB, lz4 8.5 MiB: enough for every file of the format (for lz4, every frame).
/// * snappy 4 MiB: enough for every frame, and for Hadoop's blocks with buffers of up to 2 MiB (its default: 256 KiB).
/// * zstd 9 MiB: a window of 8 MiB, as `zstd -19`. `--ultra -22` needs 129 MiB, `--long=31` 2 GiB.
/// * xz 66 MiB: a dictionary of 64 MiB, as `xz -9`. `xz -6`, the tool's default, needs 9 MiB.
///
/// The memory is taken only when a file needs it. A lower limit works for files that need less.
pub fn memory_bytes(kind: CodecKind) -> u64 {
    match kind {
        CodecKind::Gzip => gzip::MEMORY_BYTES,
        CodecKind::Zstd => zstd::MEMORY_BYTES,
        CodecKind::Bzip2 => bzip2::MEMORY_BYTES,
        CodecKind::Xz => xz::MEMORY_BYTES,
        CodecKind::Lz4 => framing::LZ4_MEMORY_BYTES,
        CodecKind::Snappy => framing::SNAPPY_MEMORY_BYTES,
        CodecKind::Deflate => deflate::MEMORY_BYTES,
    }
}

/// One format: decodes members one after the other and reports when it is between two of them.
///
/// `step` is called with a non-empty output. Its input is empty only while output may be pending (the step before
/// filled its output within a member). It must make progress, or need input.
trait Format: Send {
    const KIND: CodecKind;

    /// Decodes one step; `at` is the offset of `input[0]` in the file, for errors.
    fn step(&mut self, input: &[u8], output: &mut [u8], at: u64) -> Result<Step>;
}

/// State common to all formats: the offset, truncation, the first error.
struct Stream<F> {
    format: F,
    offset: u64,
    state: State,
    /// True if the format has no more output without more input.
    drained: bool,
    failed: Option<Error>,
}

impl<F: Format> Stream<F> {
    fn new(format: F) -> Self {
        // A file has at least one member.
        Stream { format, offset: 0, state: State::More, drained: true, failed: None }
    }

    fn advance(&mut self, input: &[u8], output: &mut [u8], last: bool) -> Result<Step> {
        let (mut read, mut written) = (0, 0);
        while written < output.len() && (read < input.len() || !self.drained) {
            let (from, to) = (&input[read..], &mut output[written..]);
            let step = self.format.step(from, to, self.offset).map_err(|e| e.at_offset(self.offset))?;
            if step.read == 0 && step.written == 0 && !from.is_empty() {
                return Err(Error::new(Code::Internal, format!("the {} decoder makes no progress", F::KIND.name()))
                    .at_offset(self.offset));
            }
            self.drained = step.state == State::End || (step.read == from.len() && step.written < to.len());
            self.state = step.state;
            self.offset += step.read as u64;
            read += step.read;
            written += step.written;
        }
        if last && read == input.len() && self.drained && self.state != State::End {
            return Err(corrupt(F::KIND, format!("the {} data is cut short", F::KIND.name())).at_offset(self.offset));
        }
        Ok(Step { read, written, state: self.state })
    }
}

impl<F: Format> Decoder for Stream<F> {
    fn decode(&mut self, input: &[u8], output: &mut [u8], last: bool) -> Result<Step> {
        if let Some(error) = &self.failed {
            return Err(error.clone());
        }
        self.advance(input, output, last).inspect_err(|error| self.failed = Some(error.clone()))
    }
}

/// Returns the error for data that violates its format.
fn corrupt(kind: CodecKind, what: impl Into<String>) -> Error {
    let hint = "fetch the file again from its source";
    Error::new(Code::Corrupt, what).hint(match kind.tool() {
        Some(tool) => format!("{hint}; `{tool} -t` tests it"),
        None => hint.into(),
    })
}

/// Returns the error for other bytes at the start of a member.
fn not_this_format(kind: CodecKind, first_member: bool) -> Error {
    let name = kind.name();
    if first_member {
        Error::new(Code::Corrupt, format!("this is not {name} data"))
            .hint(format!("give the file a name that does not end in {}", kind.extensions().join(" or ")))
    } else {
        Error::new(Code::Corrupt, format!("the {name} data is followed by bytes that are not {name} data"))
            .hint("remove them, or fetch the file again from its source")
    }
}

/// Returns the error for data that needs more memory than its limit.
fn too_little_memory(kind: CodecKind, needed_bytes: u64, limit_bytes: u64) -> Error {
    // Rounded so that the named size suffices and never equals the limit.
    let (name, needed, limit) = (kind.name(), size(needed_bytes, u64::div_ceil), size(limit_bytes, |n, unit| n / unit));
    Error::new(Code::Memory, format!("decoding this {name} data needs {needed} of memory, its reader may use {limit}"))
        .hint("compress the file again at a lower level")
}

fn size(bytes: u64, divide: fn(u64, u64) -> u64) -> String {
    if bytes < 1 << 20 { format!("{} KiB", divide(bytes, 1 << 10)) } else { format!("{} MiB", divide(bytes, 1 << 20)) }
}

#[cfg(test)]
pub(crate) mod tests;
