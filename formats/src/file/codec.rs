//! Compressed blocks: bytes of a known stored length, which become bytes of an unknown plain length.
//!
//! A stored block may be a bomb: memory is requested from the budget before each step of the output.

use std::io::{Read, Write};

use yunti_api::{Error, Result};

use crate::failure::line;

/// Bytes of the first step of the output, at least.
const STEP_BYTES: usize = 64 << 10;
/// Memory of a bzip2 decoder with blocks of 900 kB.
const BZIP2_BYTES: u64 = 4 << 20;
/// Memory of an xz decoder at first: enough for level 6. It is doubled if a block needs more.
const XZ_BYTES: u64 = 10 << 20;
/// Memory of an xz decoder, at most.
const XZ_BYTES_MAX: u64 = 4 << 30;
/// Largest window of zstd, as the exponent of 2, that its own decoder accepts without a request.
const ZSTD_WINDOW_LOG_MAX: u32 = 27;

/// Codec of whole blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Codec {
    None,
    /// Deflate without a header.
    Deflate,
    Zlib,
    Gzip,
    /// One block of raw snappy.
    Snappy,
    Zstd,
    Bzip2,
    Xz,
}

/// Function that takes memory from the budget: bytes that the caller's block needs beyond its stored bytes, in total.
pub type Hold<'a> = &'a mut dyn FnMut(u64) -> Result<()>;

impl Codec {
    /// Replaces the contents of `to` by the plain bytes of a block.
    ///
    /// Fails for a damaged block, and if the budget has too little memory.
    pub fn decode(self, stored: &[u8], to: &mut Vec<u8>, hold: Hold<'_>) -> Result<()> {
        to.clear();
        match self {
            Codec::None => {
                hold(stored.len() as u64)?;
                to.extend_from_slice(stored);
                Ok(())
            }
            Codec::Deflate => self.read(flate2::bufread::DeflateDecoder::new(stored), 0, to, hold),
            Codec::Zlib => self.read(flate2::bufread::ZlibDecoder::new(stored), 0, to, hold),
            Codec::Gzip => self.read(flate2::bufread::MultiGzDecoder::new(stored), 0, to, hold),
            Codec::Bzip2 => self.read(bzip2::bufread::MultiBzDecoder::new(stored), BZIP2_BYTES, to, hold),
            Codec::Snappy => {
                let len = snap::raw::decompress_len(stored).map_err(|e| self.damaged(&e))?;
                // Each stored byte gives at most 22 plain ones: a copy of 64 bytes takes 3.
                if len as u64 > 22 * stored.len() as u64 + 64 {
                    return Err(self.damaged(&"a length that is not possible"));
                }
                hold(len as u64)?;
                to.resize(len, 0);
                let n = snap::raw::Decoder::new().decompress(stored, to).map_err(|e| self.damaged(&e))?;
                to.truncate(n);
                Ok(())
            }
            Codec::Zstd => {
                let window = zstd_window(stored);
                hold(window)?;
                let mut decoder = zstd::stream::read::Decoder::with_buffer(stored).map_err(|e| self.damaged(&e))?;
                let log = window.next_power_of_two().trailing_zeros().clamp(10, ZSTD_WINDOW_LOG_MAX);
                decoder.window_log_max(log).map_err(|e| self.damaged(&e))?;
                self.read(decoder, window, to, hold)
            }
            Codec::Xz => {
                let mut memory = XZ_BYTES;
                loop {
                    hold(memory)?;
                    let stream = liblzma::stream::Stream::new_stream_decoder(memory, liblzma::stream::CONCATENATED)
                        .map_err(|e| self.damaged(&e))?;
                    let reader = liblzma::bufread::XzDecoder::new_stream(stored, stream);
                    match self.read_or(reader, memory, to, hold)? {
                        None => return Ok(()),
                        Some(e) if is_memory_limit(&e) && memory < XZ_BYTES_MAX => {
                            to.clear();
                            memory *= 2;
                        }
                        Some(e) => return Err(self.damaged(&e)),
                    }
                }
            }
        }
    }

    /// Appends the stored bytes of a block.
    pub fn encode(self, plain: &[u8], to: &mut Vec<u8>) -> Result<()> {
        match self {
            Codec::None => to.extend_from_slice(plain),
            Codec::Deflate => {
                let mut encoder = flate2::write::DeflateEncoder::new(to, flate2::Compression::default());
                encoder.write_all(plain)?;
                encoder.finish()?;
            }
            Codec::Zlib => {
                let mut encoder = flate2::write::ZlibEncoder::new(to, flate2::Compression::default());
                encoder.write_all(plain)?;
                encoder.finish()?;
            }
            Codec::Gzip => {
                let mut encoder = flate2::write::GzEncoder::new(to, flate2::Compression::default());
                encoder.write_all(plain)?;
                encoder.finish()?;
            }
            Codec::Bzip2 => {
                let mut encoder = bzip2::write::BzEncoder::new(to, bzip2::Compression::best());
                encoder.write_all(plain)?;
                encoder.finish()?;
            }
            Codec::Snappy => {
                let start = to.len();
                to.resize(start + snap::raw::max_compress_len(plain.len()), 0);
                let n = snap::raw::Encoder::new().compress(plain, &mut to[start..])?;
                to.truncate(start + n);
            }
            Codec::Zstd => {
                let mut encoder = zstd::stream::write::Encoder::new(to, 1)?;
                encoder.set_pledged_src_size(Some(plain.len() as u64))?;
                encoder.write_all(plain)?;
                encoder.finish()?;
            }
            Codec::Xz => {
                let mut encoder = liblzma::write::XzEncoder::new(to, 6);
                encoder.write_all(plain)?;
                encoder.finish()?;
            }
        }
        Ok(())
    }

    /// Reads a decoder to its end; `own` is the memory of the decoder itself.
    fn read(self, from: impl Read, own: u64, to: &mut Vec<u8>, hold: Hold<'_>) -> Result<()> {
        match self.read_or(from, own, to, hold)? {
            None => Ok(()),
            Some(error) => Err(self.damaged(&error)),
        }
    }

    /// Reads a decoder to its end, or to an error of its own.
    fn read_or(
        self,
        mut from: impl Read,
        own: u64,
        to: &mut Vec<u8>,
        hold: Hold<'_>,
    ) -> Result<Option<std::io::Error>> {
        loop {
            let step = to.capacity().max(STEP_BYTES);
            if to.len() == to.capacity() {
                // While the bytes move, both places exist.
                hold(own + 2 * to.capacity() as u64 + step as u64)?;
                to.reserve_exact(step);
            } else {
                hold(own + to.capacity() as u64)?;
            }
            let room = to.capacity() - to.len();
            match (&mut from).take(room as u64).read_to_end(to) {
                Ok(n) if n < room => return Ok(None),
                Ok(_) => {}
                Err(error) => return Ok(Some(error)),
            }
        }
    }

    fn damaged(self, error: &dyn std::fmt::Display) -> Error {
        let name = format!("{self:?}").to_lowercase();
        Error::damaged(format!(
            "the file is damaged: a block does not decompress by {name} ({})",
            line(&error.to_string())
        ))
    }
}

/// Returns true for the error of an xz decoder that needs more memory.
fn is_memory_limit(error: &std::io::Error) -> bool {
    let cause = error.get_ref().and_then(|cause| cause.downcast_ref::<liblzma::stream::Error>());
    matches!(cause, Some(liblzma::stream::Error::MemLimit))
}

/// Returns the bytes of the window that a zstd frame declares; 0 for bytes that are none.
///
/// ```text
///   28 b5 2f fd | descriptor | window: exponent 5 bits, mantissa 3 bits, or one segment | dictionary | content size
/// ```
fn zstd_window(frame: &[u8]) -> u64 {
    let [0x28, 0xb5, 0x2f, 0xfd, descriptor, next, ..] = *frame else { return 0 };
    if descriptor & 0x20 == 0 {
        let base = 1u64 << (10 + (next >> 3));
        return base + base / 8 * u64::from(next & 7);
    }
    // A single segment: the window is the content, whose size stands after the number of the dictionary.
    let skip = 5 + [0, 1, 2, 4][usize::from(descriptor & 3)];
    let bytes = [1, 2, 4, 8][usize::from(descriptor >> 6)];
    let Some(field) = frame.get(skip..skip + bytes) else { return 0 };
    let mut wide = [0; 8];
    wide[..bytes].copy_from_slice(field);
    u64::from_le_bytes(wide) + if bytes == 2 { 256 } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [Codec; 8] =
        [Codec::None, Codec::Deflate, Codec::Zlib, Codec::Gzip, Codec::Snappy, Codec::Zstd, Codec::Bzip2, Codec::Xz];

    #[test]
    fn blocks_come_back_and_damage_is_an_error() {
        for plain in [&b""[..], b"a", &b"word and ".repeat(30_000)] {
            for codec in ALL {
                let mut stored = b"before".to_vec();
                codec.encode(plain, &mut stored).unwrap();
                let stored = &stored[6..];
                let mut back = Vec::new();
                codec.decode(stored, &mut back, &mut |_| Ok(())).unwrap_or_else(|e| panic!("{codec:?}: {e}"));
                assert_eq!(back, plain, "{codec:?}");
                if codec == Codec::None || plain.len() < 2 {
                    continue;
                }
                for cut in [1, stored.len() / 2, stored.len() - 1] {
                    let most = 2 << 20;
                    let mut hold = |bytes| if bytes < most + XZ_BYTES { Ok(()) } else { Err(Error::new("too much")) };
                    assert!(codec.decode(&stored[..cut], &mut back, &mut hold).is_err(), "{codec:?} {cut}");
                }
            }
        }
    }

    #[test]
    fn a_bomb_ends_at_the_budget() {
        let plain = vec![0; 64 << 20];
        for codec in ALL.into_iter().filter(|codec| !matches!(codec, Codec::None | Codec::Snappy)) {
            let mut stored = Vec::new();
            codec.encode(&plain, &mut stored).unwrap();
            let (mut to, mut most) = (Vec::new(), 0);
            let done = codec.decode(&stored, &mut to, &mut |bytes| {
                most = bytes;
                if bytes < 24 << 20 { Ok(()) } else { Err(Error::new("too much")) }
            });
            assert!(done.is_err() && to.capacity() < 24 << 20, "{codec:?}: {} {most}", to.capacity());
        }
    }
}
