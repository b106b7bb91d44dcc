//! The encoder of zstd frames.

use zstd_safe::{CCtx, CParameter, InBuffer, OutBuffer, get_error_name};

use super::{Encoder, failed};
use yunti_base::{Code, Error, Result};

/// Returns the memory of a context in bytes, by level: an upper bound of `CCtx::sizeof` over all inputs.
pub fn memory_bytes(level: i32) -> u64 {
    let mib = match level {
        ..3 => 3,
        3..5 => 5,
        5..9 => 12,
        9..13 => 48,
        13..17 => 60,
        17..20 => 110,
        20 => 260,
        21 => 420,
        _ => 840,
    };
    mib << 20
}

/// Encoder of zstd frames.
pub struct Zstd {
    context: CCtx<'static>,
    buffer: Vec<u8>,
}

impl Zstd {
    /// Returns an encoder; `checksum` adds a checksum of the content. Fails with `Code::Memory` if the system has none.
    pub fn new(level: i32, checksum: bool) -> Result<Zstd> {
        let no_memory = || Error::new(Code::Memory, "no memory for a zstd encoder");
        let mut context = CCtx::try_create().ok_or_else(no_memory)?;
        for parameter in [CParameter::CompressionLevel(level), CParameter::ChecksumFlag(checksum)] {
            context.set_parameter(parameter).map_err(|e| failed("zstd", get_error_name(e)))?;
        }
        Ok(Zstd { context, buffer: vec![0; CCtx::out_size()] })
    }
}

impl Encoder for Zstd {
    fn write(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> Result<()> {
        let mut input = InBuffer::around(bytes);
        while input.pos() < bytes.len() {
            let mut ready = OutBuffer::around(&mut self.buffer[..]);
            let step = self.context.compress_stream(&mut ready, &mut input);
            step.map_err(|e| failed("zstd", get_error_name(e)))?;
            out.extend_from_slice(ready.as_slice());
        }
        Ok(())
    }

    fn finish(&mut self, out: &mut Vec<u8>) -> Result<()> {
        loop {
            let mut ready = OutBuffer::around(&mut self.buffer[..]);
            let left = self.context.end_stream(&mut ready).map_err(|e| failed("zstd", get_error_name(e)))?;
            out.extend_from_slice(ready.as_slice());
            if left == 0 {
                return Ok(());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::text;
    use super::*;

    #[test]
    fn memory_bytes_bounds_every_level() {
        let data = text(3 << 20);
        // Levels above 19 take all their memory before the first byte; their tables are not filled here.
        for level in [1, 2, 3, 4, 5, 8, 9, 12, 13, 16, 17, 19] {
            let mut zstd = Zstd::new(level, true).unwrap();
            let bytes = if level > 12 { &data[..1 << 18] } else { &data[..] };
            zstd.write(bytes, &mut Vec::new()).unwrap();
            let takes = zstd.context.sizeof() as u64 + zstd.buffer.len() as u64;
            assert!(takes <= memory_bytes(level), "level {level}: {takes}");
            assert!(takes > memory_bytes(level) / 4, "level {level}: {takes}");
        }
    }
}
