//! Compressed files cut into parts that decode alone: members, frames, streams and blocks.
//! Each format only finds where its members begin; one reader serves all (`reader.rs`), and one rule proves all cuts
//! (`part.rs`).
//!
//! | format | members are found by |
//! |---|---|
//! | lz4, Hadoop's blocks | a walk over the lengths in their headers |
//! | xz | the index at the end of each stream |
//! | gzip, zstd, deflate, snappy's framing | a scan behind each place where a cut is wanted, and a trial |
//!
//! bzip2 has marks at bits, and a reader of its own (`read/bzip2/`).

mod cutter;
mod hadoop;
mod lz4;
pub mod part;
pub mod reader;
mod scan;
mod window;
mod xz;

use std::sync::Arc;

use self::part::{Part, Parts};
use crate::codec::{self, CodecKind};
use crate::env::NamedFile;
use yunti_base::{Cancel, Result};

/// Bytes of a member, at most: the search for its end gives up there, and the file is read in order.
pub const REACH_BYTES_MAX: u64 = 256 << 20;

/// Chunk that begins a file of snappy's framing, and may come again before any chunk.
const SNAPPY_IDENTIFIER: [u8; 10] = *b"\xFF\x06\x00\x00sNaPpY";

/// Memory of an xz decoder beside its dictionary, in bytes, rounded up.
const XZ_BASE_BYTES: u64 = 2 << 20;

/// Cuts a compressed file into parts of about `target_bytes`; None if it must be read in order. `reach_bytes`: bytes of
/// a member, at most.
///
/// Only reads that fail are errors. Bytes that are not what they should be are left to the reader in order.
pub fn find(file: &NamedFile, kind: CodecKind, target_bytes: u64, reach_bytes: u64) -> Result<Option<Parts>> {
    let file_bytes = file.len()?;
    let mut head = [0; 4];
    if file.read_up_to(&mut head, 0)? < head.len() {
        return Ok(None);
    }
    let mut memory_bytes = codec::memory_bytes(kind);
    let is_lz4_frame = le32(&head) == lz4::MAGIC || le32(&head) & !0xF == lz4::MAGIC_SKIPPABLE;
    let is_snappy_frame = head == SNAPPY_IDENTIFIER[..4];
    let parts = match kind {
        CodecKind::Bzip2 => None,
        CodecKind::Gzip | CodecKind::Zstd | CodecKind::Deflate => {
            scan::find(file, file_bytes, kind, target_bytes, reach_bytes)?
        }
        CodecKind::Snappy if is_snappy_frame => scan::find(file, file_bytes, kind, target_bytes, reach_bytes)?,
        CodecKind::Lz4 if is_lz4_frame => lz4::find(file, file_bytes, target_bytes, reach_bytes)?,
        CodecKind::Lz4 | CodecKind::Snappy => hadoop::find(file, file_bytes, kind, target_bytes)?,
        CodecKind::Xz => xz::find(file, file_bytes, target_bytes)?.map(|(parts, dictionary_bytes)| {
            memory_bytes = memory_bytes.min(dictionary_bytes + XZ_BASE_BYTES);
            parts
        }),
    };
    Ok(parts.filter(|parts: &Vec<Part>| parts.len() > 1).map(|parts| Parts::new(parts, memory_bytes)))
}

/// Returns true if the parts of a file may have given other bytes than a reader in order gives: a part failed, or one
/// before the last opened part is not proven, and cannot be proven now.
pub fn is_doubtful(file: &NamedFile, kind: CodecKind, parts: &Arc<Parts>, cancel: &Cancel) -> bool {
    parts.has_failed()
        || parts
            .unproven()
            .into_iter()
            .any(|part| reader::prove(file.clone(), kind, parts.clone(), part, cancel).is_err())
}

fn le32(bytes: &[u8]) -> u32 {
    u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])
}

#[cfg(test)]
pub mod temp_file_test;
#[cfg(test)]
mod tests;
