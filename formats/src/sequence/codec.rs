//! Codecs of Hadoop by their classes: streams, and blocks with lengths before them (lz4, snappy).
//!
//! ```text
//!   lz4, snappy    plain bytes: int | (stored bytes: int | stored bytes ..) until complete     and again
//! ```

use yunti_api::{Error, Result};

use crate::file::codec::{Codec, Hold};

/// Codec of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HadoopCodec {
    name: &'static str,
    class: &'static str,
    kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Stream(Codec),
    /// Blocks of raw lz4 or snappy.
    Lz4,
    Snappy,
}

/// Plain bytes of a block that is written: Hadoop's buffer has 256 KiB.
const BLOCK_BYTES: usize = 200 << 10;
/// Plain bytes that a stored byte of lz4 gives, at most.
const LZ4_FACTOR: usize = 255;

const PACKAGE: &str = "org.apache.hadoop.io.compress.";
const CODECS: [HadoopCodec; 7] = [
    DEFAULT,
    HadoopCodec {
        name: "deflate",
        class: "org.apache.hadoop.io.compress.DeflateCodec",
        kind: Kind::Stream(Codec::Zlib),
    },
    HadoopCodec { name: "gzip", class: "org.apache.hadoop.io.compress.GzipCodec", kind: Kind::Stream(Codec::Gzip) },
    HadoopCodec { name: "bzip2", class: "org.apache.hadoop.io.compress.BZip2Codec", kind: Kind::Stream(Codec::Bzip2) },
    HadoopCodec {
        name: "zstd",
        class: "org.apache.hadoop.io.compress.ZStandardCodec",
        kind: Kind::Stream(Codec::Zstd),
    },
    HadoopCodec { name: "lz4", class: "org.apache.hadoop.io.compress.Lz4Codec", kind: Kind::Lz4 },
    HadoopCodec { name: "snappy", class: "org.apache.hadoop.io.compress.SnappyCodec", kind: Kind::Snappy },
];

/// Codec of files that name none.
pub const DEFAULT: HadoopCodec = HadoopCodec {
    name: "deflate",
    class: "org.apache.hadoop.io.compress.DefaultCodec",
    kind: Kind::Stream(Codec::Zlib),
};

/// Returns the codec of a class. Fails for one that is not known.
pub fn of_class(class: &str) -> Result<HadoopCodec> {
    CODECS.into_iter().find(|codec| codec.class == class).ok_or_else(|| {
        let name: String = class.strip_prefix(PACKAGE).unwrap_or(class).escape_debug().take(120).collect();
        Error::unsupported(format!("the codec {name} of the SequenceFile is not known"))
    })
}

/// Returns the codec of a name.
pub fn of_name(name: &str) -> Option<HadoopCodec> {
    CODECS.into_iter().find(|codec| codec.name == name)
}

impl HadoopCodec {
    /// Returns the name of the class.
    pub fn class(self) -> &'static str {
        self.class
    }

    /// Replaces the contents of `to` by the plain bytes. Fails for damaged ones, and if the budget has too little.
    pub fn decode(self, stored: &[u8], to: &mut Vec<u8>, hold: Hold<'_>) -> Result<()> {
        to.clear();
        match self.kind {
            _ if stored.is_empty() => Ok(()),
            Kind::Stream(codec) => codec.decode(stored, to, hold),
            kind => blocks(kind, stored, to, hold),
        }
    }

    /// Appends the stored bytes.
    pub fn encode(self, plain: &[u8], to: &mut Vec<u8>) -> Result<()> {
        let kind = match self.kind {
            Kind::Stream(codec) => return codec.encode(plain, to),
            kind => kind,
        };
        for block in plain.chunks(BLOCK_BYTES) {
            to.extend_from_slice(&(block.len() as u32).to_be_bytes());
            let at = to.len();
            to.extend_from_slice(&[0; 4]);
            match kind {
                Kind::Lz4 => to.extend_from_slice(&lz4_flex::block::compress(block)),
                _ => Codec::Snappy.encode(block, to)?,
            }
            let stored = (to.len() - at - 4) as u32;
            to[at..at + 4].copy_from_slice(&stored.to_be_bytes());
        }
        if plain.is_empty() {
            to.extend_from_slice(&[0; 4]);
        }
        Ok(())
    }
}

fn blocks(kind: Kind, mut stored: &[u8], to: &mut Vec<u8>, hold: Hold<'_>) -> Result<()> {
    let damaged = |what: &str| Error::damaged(format!("the SequenceFile is damaged: {what} of {kind:?}"));
    let next = |stored: &mut &[u8]| {
        let (number, rest) = stored.split_first_chunk().ok_or_else(|| damaged("a block is cut"))?;
        *stored = rest;
        usize::try_from(i32::from_be_bytes(*number)).map_err(|_| damaged("a negative length"))
    };
    let mut piece = Vec::new();
    while !stored.is_empty() {
        let mut plain = next(&mut stored)?;
        while plain > 0 {
            let n = next(&mut stored)?;
            let (bytes, rest) = stored.split_at_checked(n).ok_or_else(|| damaged("a block is cut"))?;
            stored = rest;
            let start = to.len();
            match kind {
                Kind::Lz4 => {
                    let most = plain.min(n.saturating_mul(LZ4_FACTOR));
                    hold((2 * to.capacity() + most) as u64)?;
                    to.resize(start + most, 0);
                    let n = lz4_flex::block::decompress_into(bytes, &mut to[start..]);
                    to.truncate(start + n.map_err(|_| damaged("a damaged block"))?);
                }
                _ => {
                    let held = 2 * to.capacity() as u64;
                    Codec::Snappy.decode(bytes, &mut piece, &mut |more| hold(held + 2 * more))?;
                    to.extend_from_slice(&piece);
                }
            }
            let done = to.len() - start;
            if done > plain || done == 0 {
                return Err(damaged("a block of another length"));
            }
            plain -= done;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_come_back_by_every_codec() {
        for codec in CODECS {
            for plain in [&b""[..], b"a", &b"some words ".repeat(100_000)] {
                let (mut stored, mut back) = (Vec::new(), Vec::new());
                codec.encode(plain, &mut stored).unwrap();
                codec.decode(&stored, &mut back, &mut |_| Ok(())).unwrap_or_else(|e| panic!("{codec:?}: {e}"));
                assert!(back == plain, "{codec:?}");
            }
        }
    }

    #[test]
    fn wrong_lengths_do_not_allocate() {
        for kind in [Kind::Lz4, Kind::Snappy] {
            let mut most = 0;
            let stored = [0x7f, 0xff, 0xff, 0xff, 0, 0, 0, 2, 0x1f, 0xff];
            let done = blocks(kind, &stored, &mut Vec::new(), &mut |bytes| {
                most = most.max(bytes);
                Ok(())
            });
            assert!(done.is_err() && most < 4096, "{kind:?} {most}");
        }
    }
}
