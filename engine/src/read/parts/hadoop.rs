//! Parts of a file in Hadoop's framing (BlockCompressorStream): its blocks, by a walk over their lengths.
//!
//! ```text
//!   block:  raw bytes: u32    chunk chunk ..     up to the raw length; big-endian
//!   chunk:  compressed bytes: u32    a raw block of the codec
//! ```
//!
//! A chunk of snappy begins with its raw length. A chunk of lz4 does not have it: the walk takes a block for one chunk,
//! as Hadoop writes it. If this is wrong, the parts are not proven, and the file is read in order.
//!
//! Every part but the first begins with an empty block. It shows the decoder the framing.

use super::cutter::Cutter;
use super::part::Part;
use super::window::{WALK_BYTES, Window};
use crate::bytes::varint;
use crate::codec::CodecKind;
use crate::env::NamedFile;
use yunti_base::Result;

/// Bytes of a chunk, at most, as for the decoder.
const CHUNK_BYTES_MAX: u32 = 64 << 20;

/// Returns the parts of a file; None for lengths out of range.
///
/// Errors: those of reads.
pub fn find(file: &NamedFile, file_bytes: u64, kind: CodecKind, target_bytes: u64) -> Result<Option<Vec<Part>>> {
    let mut window = Window::new(file, WALK_BYTES);
    let mut cutter = Cutter::new(target_bytes, file_bytes);
    let mut at = 0;
    while at < file_bytes {
        if cutter.wants(at) {
            cutter.cut(at, at, Vec::new(), vec![0; 4]);
        }
        let Some(end) = block_end(&mut window, at, kind)? else { return Ok(None) };
        at = end;
    }
    Ok((at == file_bytes).then(|| cutter.finish()))
}

/// Returns the end of the block at `at`.
fn block_end(window: &mut Window<'_>, at: u64, kind: CodecKind) -> Result<Option<u64>> {
    let Some(raw) = window.array(at)?.map(u32::from_be_bytes) else { return Ok(None) };
    if raw > i32::MAX as u32 {
        return Ok(None);
    }
    let (mut left, mut at) = (u64::from(raw), at + 4);
    while left > 0 {
        let Some(length) = window.array(at)?.map(u32::from_be_bytes) else { return Ok(None) };
        if !(1..=CHUNK_BYTES_MAX).contains(&length) {
            return Ok(None);
        }
        let raw = match kind {
            CodecKind::Snappy => varint::get(window.bytes(at + 4, 5)?, &mut 0),
            _ => Some(left),
        };
        match raw {
            Some(raw) if (1..=left).contains(&raw) => left -= raw,
            _ => return Ok(None),
        }
        at += 4 + u64::from(length);
    }
    Ok(Some(at))
}
