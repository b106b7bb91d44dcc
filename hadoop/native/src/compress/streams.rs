//! Codecs with a stream of their own: zlib, gzip, bzip2, zstd. Hadoop's are the plain formats.

use std::io::Write;

use flate2::Compression;
use flate2::write::{GzEncoder, ZlibEncoder};
use yunti_engine::base::Result;
use zstd_safe::{CCtx, InBuffer, OutBuffer};

use super::{Compressor, failed};

/// zlib or gzip. An encoder is made for each stream: it writes into the vector that it owns.
pub struct Deflate {
    gzip: bool,
    level: Compression,
    open: Option<Encoder>,
}

enum Encoder {
    Zlib(ZlibEncoder<Vec<u8>>),
    Gzip(GzEncoder<Vec<u8>>),
}

impl Deflate {
    pub fn zlib(level: i32) -> Deflate {
        Deflate { gzip: false, level: deflate_level(level), open: None }
    }
    pub fn gzip(level: i32) -> Deflate {
        Deflate { gzip: true, level: deflate_level(level), open: None }
    }

    fn open(&mut self) -> &mut Encoder {
        let Deflate { gzip, level, open } = self;
        open.get_or_insert_with(|| match gzip {
            true => Encoder::Gzip(GzEncoder::new(Vec::new(), *level)),
            false => Encoder::Zlib(ZlibEncoder::new(Vec::new(), *level)),
        })
    }
}

fn deflate_level(level: i32) -> Compression {
    u32::try_from(level).map_or_else(|_| Compression::default(), |l| Compression::new(l.min(9)))
}

impl Compressor for Deflate {
    fn write(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> Result<()> {
        let ready = match self.open() {
            Encoder::Zlib(e) => e.write_all(bytes).map(|()| e.get_mut()),
            Encoder::Gzip(e) => e.write_all(bytes).map(|()| e.get_mut()),
        };
        out.append(ready.map_err(|e| failed("zlib", e))?);
        Ok(())
    }

    fn finish(&mut self, out: &mut Vec<u8>) -> Result<()> {
        self.open();
        let ready = match self.open.take() {
            Some(Encoder::Zlib(e)) => e.finish(),
            Some(Encoder::Gzip(e)) => e.finish(),
            None => return Ok(()),
        };
        out.append(&mut ready.map_err(|e| failed("zlib", e))?);
        Ok(())
    }
}

pub struct Bzip2 {
    level: bzip2::Compression,
    open: Option<bzip2::write::BzEncoder<Vec<u8>>>,
}

impl Bzip2 {
    pub fn new(level: i32) -> Bzip2 {
        let level = u32::try_from(level).map_or(9, |l| l.clamp(1, 9));
        Bzip2 { level: bzip2::Compression::new(level), open: None }
    }

    fn open(&mut self) -> &mut bzip2::write::BzEncoder<Vec<u8>> {
        let level = self.level;
        self.open.get_or_insert_with(|| bzip2::write::BzEncoder::new(Vec::new(), level))
    }
}

impl Compressor for Bzip2 {
    fn write(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> Result<()> {
        let encoder = self.open();
        encoder.write_all(bytes).map_err(|e| failed("bzip2", e))?;
        out.append(encoder.get_mut());
        Ok(())
    }

    fn finish(&mut self, out: &mut Vec<u8>) -> Result<()> {
        self.open();
        if let Some(encoder) = self.open.take() {
            out.append(&mut encoder.finish().map_err(|e| failed("bzip2", e))?);
        }
        Ok(())
    }
}

pub struct Zstd {
    context: CCtx<'static>,
    buffer: Vec<u8>,
}

impl Zstd {
    pub fn new(level: i32) -> Result<Zstd> {
        let mut context = CCtx::try_create().ok_or_else(|| failed("zstd", "no memory"))?;
        // Hadoop's own: io.compression.codec.zstd.level, 3.
        let level = if level < 0 { 3 } else { level };
        let set = context.set_parameter(zstd_safe::CParameter::CompressionLevel(level));
        set.map_err(|e| failed("zstd", zstd_safe::get_error_name(e)))?;
        Ok(Zstd { context, buffer: vec![0; CCtx::out_size()] })
    }
}

impl Compressor for Zstd {
    fn write(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> Result<()> {
        let mut input = InBuffer::around(bytes);
        while input.pos() < bytes.len() {
            let mut ready = OutBuffer::around(&mut self.buffer[..]);
            let step = self.context.compress_stream(&mut ready, &mut input);
            step.map_err(|e| failed("zstd", zstd_safe::get_error_name(e)))?;
            out.extend_from_slice(ready.as_slice());
        }
        Ok(())
    }

    fn finish(&mut self, out: &mut Vec<u8>) -> Result<()> {
        loop {
            let mut ready = OutBuffer::around(&mut self.buffer[..]);
            let left = self.context.end_stream(&mut ready);
            let left = left.map_err(|e| failed("zstd", zstd_safe::get_error_name(e)))?;
            out.extend_from_slice(ready.as_slice());
            if left == 0 {
                return Ok(());
            }
        }
    }
}
