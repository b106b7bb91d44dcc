//! Detection of a file's framing: `.lz4` and `.snappy` files are from the tools or from Hadoop, which frames the same
//! blocks differently. The first four bytes decide.
//!
//! ```text
//!   04 22 4D 18, 5x 2A 4D 18       an lz4 frame
//!   FF 06 00 00                    snappy's framing format
//!   anything else                  the length of Hadoop's first block, which is never so large
//! ```

mod block_by_block;
mod hadoop_blocks;
pub mod lz4_frame;
pub mod snappy_frame;

use hadoop_blocks::{HadoopBlocks, RawCodec};
use lz4_frame::Lz4Frame;
use snappy_frame::SnappyFrame;

use super::field::Field;
use super::{CodecKind, Format, State, Step};
use yunti_base::Result;

/// Bytes of an lz4 decoder.
pub const LZ4_MEMORY_BYTES: u64 = lz4_frame::MEMORY_BYTES;

/// Bytes of a snappy decoder: enough for the tools' frames, and for Hadoop's blocks with buffers of up to 2 MiB.
pub const SNAPPY_MEMORY_BYTES: u64 = 4 << 20;

/// The tools' format or Hadoop's.
enum Either<F> {
    Unknown { head: Field<4>, memory_limit_bytes: u64 },
    Framed(F),
    Blocks(HadoopBlocks),
}

impl<F: Format> Either<F> {
    fn new(memory_limit_bytes: u64) -> Self {
        Either::Unknown { head: Field::default(), memory_limit_bytes }
    }

    fn step(
        &mut self,
        input: &[u8],
        output: &mut [u8],
        at: u64,
        choose: impl FnOnce([u8; 4], u64) -> Either<F>,
    ) -> Result<Step> {
        if let Either::Unknown { head, memory_limit_bytes } = self {
            let read = head.gather(input, 4);
            let Some(bytes) = head.take(4) else { return Ok(Step { read, written: 0, state: State::More }) };
            *self = choose(bytes, *memory_limit_bytes);
            // The format decodes the four bytes first; they hold no data.
            let begin = (at + read as u64).saturating_sub(4);
            let first = self.inner(&bytes, output, begin)?;
            debug_assert!(first.read == 4 && first.written == 0);
            return Ok(Step { read, written: 0, state: first.state });
        }
        self.inner(input, output, at)
    }

    fn inner(&mut self, input: &[u8], output: &mut [u8], at: u64) -> Result<Step> {
        match self {
            Either::Framed(format) => format.step(input, output, at),
            Either::Blocks(blocks) => blocks.step(input, output, at),
            Either::Unknown { .. } => unreachable!("it was chosen"),
        }
    }
}

/// Decoder of `.lz4` files.
pub struct Lz4(Either<Lz4Frame>);

impl Lz4 {
    /// Returns a decoder that uses at most `memory_limit_bytes`.
    pub fn new(memory_limit_bytes: u64) -> Self {
        Lz4(Either::new(memory_limit_bytes))
    }
}

impl Format for Lz4 {
    const KIND: CodecKind = CodecKind::Lz4;

    fn step(&mut self, input: &[u8], output: &mut [u8], at: u64) -> Result<Step> {
        self.0.step(input, output, at, |head, limit| match lz4_frame::begins(u32::from_le_bytes(head)) {
            true => Either::Framed(Lz4Frame::new(limit)),
            false => Either::Blocks(HadoopBlocks::new(RawCodec::Lz4, limit)),
        })
    }
}

/// Decoder of `.snappy` files.
pub struct Snappy(Either<SnappyFrame>);

impl Snappy {
    /// Returns a decoder that uses at most `memory_limit_bytes`.
    pub fn new(memory_limit_bytes: u64) -> Self {
        Snappy(Either::new(memory_limit_bytes))
    }
}

impl Format for Snappy {
    const KIND: CodecKind = CodecKind::Snappy;

    fn step(&mut self, input: &[u8], output: &mut [u8], at: u64) -> Result<Step> {
        self.0.step(input, output, at, |head, limit| match snappy_frame::begins(head) {
            true => Either::Framed(SnappyFrame::default()),
            false => Either::Blocks(HadoopBlocks::new(RawCodec::Snappy, limit)),
        })
    }
}
