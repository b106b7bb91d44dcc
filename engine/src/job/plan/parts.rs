//! Cuts of compressed files: the plan opens each file that is larger than a split to find its parts.

use std::sync::Arc;

use crate::codec::CodecKind;
use crate::env::{Env, NamedFile, stores};
use crate::job::spec::{JobSpec, SPLIT_BYTES_DEFAULT};
use crate::read::parts::{self, REACH_BYTES_MAX};
use crate::read::split::{InputFile, RecordFormat};
use yunti_base::{Code, Result};

/// Bytes searched in a file for its first cut at least, after earlier files had none.
const REACH_BYTES_MIN: u64 = 1 << 20;
/// Times that compressed text grows when it is decoded, about: a part decodes to as much as another split has.
const GROWTH: u64 = 4;

/// Returns the bytes of a part, about.
pub fn target_bytes(spec: &JobSpec, split_bytes: u64) -> u64 {
    if spec.split_bytes == SPLIT_BYTES_DEFAULT { split_bytes / GROWTH } else { split_bytes }
}

/// Returns the reason why a compressed file has no parts. `cuts_parts`: the plan tried to cut it.
pub fn reason_for_none(input: &InputFile, format: &RecordFormat, cuts_parts: bool) -> &'static str {
    if !format.splittable_by_blocks() {
        return "compressed files are split only if their records are lines";
    }
    if stores::scheme_of(&input.path).is_some() {
        return "compressed files of a store are read in order";
    }
    match input.codec {
        _ if !cuts_parts => "compressed files were read in order, for certainty",
        Some(CodecKind::Gzip) => "it is one gzip member",
        Some(CodecKind::Zstd) => "it is one zstd frame",
        Some(CodecKind::Xz) => "it is one xz block",
        Some(CodecKind::Deflate) => "it is one zlib stream",
        Some(CodecKind::Lz4) => "it is one lz4 frame, with a checksum over all blocks",
        _ => "it has no parts that decode alone",
    }
}

/// Cuts the compressed files among `files`, if records are found from any place on.
///
/// A job of many files without cuts must not read them all while it plans: the files share one reach.
///
/// Errors: `Input` for a file that cannot be read.
pub fn cut(spec: &JobSpec, env: &Env, files: &mut [InputFile], format: &RecordFormat, split_bytes: u64) -> Result<()> {
    if !format.splittable_by_blocks() {
        return Ok(());
    }
    let target_bytes = target_bytes(spec, split_bytes);
    let mut reach_bytes = REACH_BYTES_MAX;
    for input in files.iter_mut().filter(|input| !input.is_stream && input.len > target_bytes) {
        // bzip2 is cut at its marks, when it is read.
        let Some(kind) = input.codec.filter(|kind| *kind != CodecKind::Bzip2) else { continue };
        // A store answers too slowly for a look here and there.
        if stores::scheme_of(&input.path).is_some() {
            continue;
        }
        let file = NamedFile::open(&*env.files, &input.path, Code::Input)?;
        input.parts = parts::find(&file, kind, target_bytes, reach_bytes)?.map(Arc::new);
        if input.parts.is_none() {
            reach_bytes = reach_bytes.saturating_sub(input.len).max(REACH_BYTES_MIN);
        }
    }
    Ok(())
}
