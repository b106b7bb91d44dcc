//! Stored bytes of a stream, and the blocks in which they are compressed.
//!
//! ```text
//!   block = u24 little-endian: length << 1 | is stored as it is, then the bytes      no codec: bytes without blocks
//! ```
//!
//! A block never has more plain bytes than the file declares, so that a small file cannot become large in memory.

use std::sync::{Arc, Mutex};

use bytes::Bytes;
use yunti_api::Result;

use super::failure::{damaged, unsupported};
use crate::file::input::Input;

/// Plain bytes for a stored byte, at most, of zlib and lz4.
pub const RATIO_MAX: usize = 1100;

/// Codec of the blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Codec {
    None,
    Zlib,
    Snappy,
    Lz4,
    Zstd,
}

impl Codec {
    /// Returns the codec of a number of the postscript.
    pub fn of(number: u64) -> Result<Codec> {
        match number {
            0 => Ok(Codec::None),
            1 => Ok(Codec::Zlib),
            2 => Ok(Codec::Snappy),
            3 => Err(unsupported("it is compressed with lzo, which is under the GPL: write it with another codec")),
            4 => Ok(Codec::Lz4),
            5 => Ok(Codec::Zstd),
            n => Err(unsupported(format!("its codec has the number {n}, which is not known"))),
        }
    }

    /// Returns the name, as in settings.
    pub fn name(self) -> &'static str {
        match self {
            Codec::None => "none",
            Codec::Zlib => "zlib",
            Codec::Snappy => "snappy",
            Codec::Lz4 => "lz4",
            Codec::Zstd => "zstd",
        }
    }
}

/// Decoder of blocks, shared by the streams of a file.
#[derive(Clone)]
pub struct Unpacker {
    pub codec: Codec,
    /// Plain bytes of a block, at most.
    pub block_max: usize,
    zstd: Arc<Mutex<Option<zstd::bulk::Decompressor<'static>>>>,
}

impl Unpacker {
    pub fn new(codec: Codec, block_max: usize) -> Unpacker {
        Unpacker { codec, block_max, zstd: Arc::default() }
    }

    /// Returns the plain bytes that a block has at most: codecs without an entropy code of their own are bounded too.
    fn plain_max(&self, from: &[u8]) -> usize {
        self.block_max.min(from.len().saturating_mul(RATIO_MAX))
    }

    /// Replaces `to` by the plain bytes of a block.
    fn unpack(&self, from: &[u8], to: &mut Vec<u8>) -> Result<()> {
        to.clear();
        let wrong = || damaged(format!("a {} block", self.codec.name()));
        match self.codec {
            Codec::None => to.extend_from_slice(from),
            Codec::Zlib => {
                // One byte more, so that the decoder comes to the end of the block.
                to.reserve(self.plain_max(from) + 1);
                let mut inflate = flate2::Decompress::new(false);
                let end = inflate.decompress_vec(from, to, flate2::FlushDecompress::Finish).map_err(|_| wrong())?;
                if end != flate2::Status::StreamEnd {
                    return Err(wrong());
                }
            }
            Codec::Snappy => {
                let n = snap::raw::decompress_len(from).map_err(|_| wrong())?;
                if n > self.block_max {
                    return Err(wrong());
                }
                to.resize(n, 0);
                let n = snap::raw::Decoder::new().decompress(from, to).map_err(|_| wrong())?;
                to.truncate(n);
            }
            Codec::Lz4 => {
                to.resize(self.plain_max(from), 0);
                let n = lz4_flex::block::decompress_into(from, to).map_err(|_| wrong())?;
                to.truncate(n);
            }
            Codec::Zstd => {
                let mut shared = self.zstd.lock().unwrap_or_else(|e| e.into_inner());
                if shared.is_none() {
                    *shared = Some(zstd::bulk::Decompressor::new().map_err(|_| wrong())?);
                }
                let Some(decompressor) = &mut *shared else { return Err(wrong()) };
                let n = zstd::zstd_safe::get_frame_content_size(from).map_err(|_| wrong())?;
                to.reserve(n.map_or(self.block_max, |n| n.min(self.block_max as u64) as usize));
                decompressor.decompress_to_buffer(from, to).map_err(|_| wrong())?;
            }
        }
        if to.len() > self.block_max && self.codec != Codec::None { Err(wrong()) } else { Ok(()) }
    }
}

/// Stored bytes of a part of the file, fetched a window at a time.
pub struct Stored {
    file: Input,
    /// First byte that was not fetched.
    at: u64,
    end: u64,
    /// Bytes that were fetched, and not taken.
    fetched: Bytes,
    window: usize,
}

impl Stored {
    /// Returns the bytes `at..end` of a file, of which the first ones may be fetched already.
    pub fn new(file: &Input, at: u64, end: u64, fetched: Bytes, window: usize) -> Stored {
        Stored { file: file.clone(), at: at + fetched.len() as u64, end, fetched, window: window.max(1) }
    }

    fn left(&self) -> u64 {
        self.end - self.at + self.fetched.len() as u64
    }

    /// Takes the next `n` bytes.
    fn take(&mut self, n: usize) -> Result<Bytes> {
        if n as u64 > self.left() {
            return Err(damaged("a stream ends within a block"));
        }
        if n > self.fetched.len() {
            let more = ((n - self.fetched.len()).max(self.window) as u64).min(self.end - self.at) as usize;
            let mut bytes = Vec::with_capacity(self.fetched.len() + more);
            bytes.extend_from_slice(&self.fetched);
            let begin = bytes.len();
            bytes.resize(begin + more, 0);
            self.file.read_at(&mut bytes[begin..], self.at)?;
            self.at += more as u64;
            self.fetched = bytes.into();
        }
        Ok(self.fetched.split_to(n))
    }
}

/// Plain bytes of a stream.
pub struct Stream {
    /// None for a stream that is not in the stripe: it has no byte.
    stored: Option<Stored>,
    unpacker: Unpacker,
    /// Plain bytes of the last block, and how many of them were taken.
    plain: Vec<u8>,
    at: usize,
}

impl Stream {
    pub fn new(stored: Option<Stored>, unpacker: &Unpacker) -> Stream {
        Stream { stored, unpacker: unpacker.clone(), plain: Vec::new(), at: 0 }
    }

    /// Returns a stream of plain bytes, for tests.
    #[cfg(test)]
    pub fn of_bytes(bytes: &[u8], unpacker: &Unpacker) -> Stream {
        Stream { stored: None, unpacker: unpacker.clone(), plain: bytes.to_vec(), at: 0 }
    }

    /// Makes the next plain bytes ready, if all were taken. Fails at the end.
    fn ready(&mut self) -> Result<()> {
        if self.at < self.plain.len() || self.next_block()? {
            return Ok(());
        }
        Err(damaged("a stream has fewer values than rows"))
    }

    /// Replaces the block by the next one that has a byte. Returns false at the end.
    fn next_block(&mut self) -> Result<bool> {
        let Some(stored) = &mut self.stored else { return Ok(false) };
        self.plain.clear();
        self.at = 0;
        while self.plain.is_empty() {
            if stored.left() == 0 {
                return Ok(false);
            }
            if self.unpacker.codec == Codec::None {
                let n = (stored.left().min(stored.window as u64)) as usize;
                self.plain.extend_from_slice(&stored.take(n)?);
                continue;
            }
            let head = stored.take(3)?;
            let head = u32::from_le_bytes([head[0], head[1], head[2], 0]);
            let n = (head >> 1) as usize;
            if n > self.unpacker.block_max {
                return Err(damaged(format!("a block of {n} bytes, of at most {}", self.unpacker.block_max)));
            }
            let bytes = stored.take(n)?;
            match head & 1 {
                1 => self.plain.extend_from_slice(&bytes),
                _ => self.unpacker.unpack(&bytes, &mut self.plain)?,
            }
        }
        Ok(true)
    }

    /// Returns the next byte.
    #[inline]
    pub fn byte(&mut self) -> Result<u8> {
        if self.at == self.plain.len() {
            self.ready()?;
        }
        self.at += 1;
        Ok(self.plain[self.at - 1])
    }

    /// Fills `to` with the next bytes.
    pub fn fill(&mut self, to: &mut [u8]) -> Result<()> {
        let mut done = 0;
        while done < to.len() {
            self.ready()?;
            let n = (self.plain.len() - self.at).min(to.len() - done);
            to[done..done + n].copy_from_slice(&self.plain[self.at..self.at + n]);
            self.at += n;
            done += n;
        }
        Ok(())
    }

    /// Returns all bytes that are left. `hold` is called with their number before more are kept.
    pub fn rest(&mut self, mut hold: impl FnMut(usize) -> Result<()>) -> Result<Vec<u8>> {
        let mut all = Vec::new();
        while self.at < self.plain.len() || self.next_block()? {
            hold(all.len() + self.plain.len())?;
            all.extend_from_slice(&self.plain[self.at..]);
            self.at = self.plain.len();
        }
        Ok(all)
    }
}
