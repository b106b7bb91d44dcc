//! Parts of an lz4 file: its frames, and the blocks of frames whose blocks are independent. A checksum or a size of the
//! content covers all blocks of a frame; such a frame is not cut.
//!
//! ```text
//!   frame:   magic(4) FLG BD [content size(8)] HC    [length(4) block [checksum(4)]] ..  00 00 00 00 [checksum(4)]
//!   a cut:   ..block] 00 00 00 00 | magic FLG BD HC [block ..       the end and the header are added to the parts
//! ```

use super::cutter::Cutter;
use super::le32;
use super::part::Part;
use super::window::{WALK_BYTES, Window};
use crate::env::NamedFile;
use yunti_base::Result;

pub const MAGIC: u32 = 0x184D_2204;
pub const MAGIC_SKIPPABLE: u32 = 0x184D_2A50;
const STORED: u32 = 1 << 31;

const FLAG_DICTIONARY: u8 = 1;
const FLAG_CONTENT_CHECKSUM: u8 = 1 << 2;
const FLAG_CONTENT_SIZE: u8 = 1 << 3;
const FLAG_BLOCK_CHECKSUMS: u8 = 1 << 4;
const FLAG_INDEPENDENT: u8 = 1 << 5;

/// Returns the parts of a file; None for bytes that are not lz4 frames, and for longer ones than `reach_bytes`.
///
/// Errors: those of reads.
pub fn find(file: &NamedFile, file_bytes: u64, target_bytes: u64, reach_bytes: u64) -> Result<Option<Vec<Part>>> {
    let mut window = Window::new(file, WALK_BYTES);
    let mut cutter = Cutter::new(target_bytes, file_bytes);
    let mut at = 0;
    while at < file_bytes {
        cutter.member(at);
        let Some(end) = frame(&mut window, at, &mut cutter, reach_bytes)? else { return Ok(None) };
        at = end;
    }
    Ok((at == file_bytes).then(|| cutter.finish()))
}

/// Walks over the frame at `at`, and cuts it where it may be cut. Returns its end.
fn frame(window: &mut Window<'_>, at: u64, cutter: &mut Cutter, reach_bytes: u64) -> Result<Option<u64>> {
    let Some(head) = window.array::<8>(at)? else { return Ok(None) };
    if le32(&head) & !0xF == MAGIC_SKIPPABLE {
        return Ok(Some(at + 8 + u64::from(le32(&head[4..]))));
    }
    if le32(&head) != MAGIC {
        return Ok(None);
    }
    let flags = head[4];
    let has = |flag: u8| flags & flag != 0;
    if has(FLAG_DICTIONARY) {
        return Ok(None);
    }
    let header_bytes = 4 + 2 + if has(FLAG_CONTENT_SIZE) { 8 } else { 0 } + 1;
    let may_cut = has(FLAG_INDEPENDENT) && !has(FLAG_CONTENT_CHECKSUM) && !has(FLAG_CONTENT_SIZE);
    let mut block = at + header_bytes;
    let mut begun = at;
    loop {
        let Some(length) = window.array::<4>(block)? else { return Ok(None) };
        if le32(&length) == 0 {
            return Ok(Some(block + 4 + if has(FLAG_CONTENT_CHECKSUM) { 4 } else { 0 }));
        }
        if may_cut && block > at + header_bytes && cutter.wants(block) {
            cutter.cut(block, block, vec![0; 4], head[..7].to_vec());
            begun = block;
        }
        block += 4 + u64::from(le32(&length) & !STORED) + if has(FLAG_BLOCK_CHECKSUMS) { 4 } else { 0 };
        if block - begun > reach_bytes {
            return Ok(None);
        }
    }
}
