//! Hadoop's map output, as it is stored on a node's disk: an index and the segments that it points to.
//!
//! ```text
//!   file.out.index  | start, raw length, stored length: u64 each |  per partition ... | CRC-32 of all before: u64 |
//!   file.out        | segment of partition 0 ............. CRC-32: u32 | segment of partition 1 ...
//! ```
//! Numbers are big-endian. The records in a segment are not shown, because only the job knows their codec and types.

use std::path::{Path, PathBuf};

use serde_json::json;
use yunti_base::{Code, Error, Result};
use yunti_engine::env::{Env, NamedFile};

use super::Inspection;
use crate::console::paint::Paint;
use crate::text::numbers;
use crate::text::table::{Side, Table};

/// Bytes of the largest index to read. A larger one would have millions of partitions, which no job has.
const INDEX_BYTES_MAX: u64 = 64 << 20;
/// Partitions in the table; the rest are counted.
const ROWS: usize = 20;
const PIECE_BYTES: usize = 256 << 10;

const INDEX_ENTRY_BYTES: u64 = 24;
const INDEX_CHECKSUM_BYTES: u64 = 8;

pub fn has_length_of_index(len: u64) -> bool {
    len > INDEX_CHECKSUM_BYTES && (len - INDEX_CHECKSUM_BYTES).is_multiple_of(INDEX_ENTRY_BYTES)
}

pub fn index_of(output: &Path) -> PathBuf {
    let mut name = output.as_os_str().to_owned();
    name.push(".index");
    name.into()
}

/// Returns true if the checksum of an index matches its entries.
pub fn is_sound(index: &[u8]) -> bool {
    let Some((entries, checksum)) = index.split_last_chunk::<{ INDEX_CHECKSUM_BYTES as usize }>() else { return false };
    u64::from(crc32fast::hash(entries)) == u64::from_be_bytes(*checksum)
}

#[derive(Clone, Copy)]
struct Segment {
    start: u64,
    raw: u64,
    stored: u64,
}

/// Inspects an index and, if it exists, its output file. `path` is the path of either.
pub fn index(path: &Path, file: &NamedFile, len: u64, env: &Env) -> Result<Inspection> {
    let is_output = path.extension().is_some_and(|e| e == "out");
    let index_path = if is_output { index_of(path) } else { path.to_path_buf() };
    let named = |e: Error| e.at_path(index_path.to_string_lossy());
    let (file, len) = if is_output {
        let file = NamedFile::open(&*env.files, &index_path, Code::Input)?;
        let len = file.len()?;
        (file, len)
    } else {
        (file.clone(), len)
    };
    let damaged = |what: &str| named(Error::new(Code::Corrupt, what)).hint("the map task that wrote it must run again");
    if !has_length_of_index(len) || len > INDEX_BYTES_MAX {
        return Err(damaged(&format!(
            "an index of map output is {INDEX_ENTRY_BYTES} bytes a partition and {INDEX_CHECKSUM_BYTES}, not {len}"
        )));
    }
    let mut bytes = vec![0; len as usize];
    file.read_exact(&mut bytes, 0)?;
    if !is_sound(&bytes) {
        return Err(damaged("the checksum of the index of map output is wrong"));
    }
    let number = |bytes: &[u8]| bytes.iter().fold(0u64, |n, b| n << 8 | u64::from(*b));
    let entries = &bytes[..bytes.len() - INDEX_CHECKSUM_BYTES as usize];
    let segments: Vec<Segment> = entries
        .chunks_exact(INDEX_ENTRY_BYTES as usize)
        .map(|e| Segment { start: number(&e[..8]), raw: number(&e[8..16]), stored: number(&e[16..]) })
        .collect();
    let output = PathBuf::from(index_path.to_string_lossy().strip_suffix(".index").unwrap_or_default());
    let checked = match env.files.meta(&output) {
        Ok(meta) if !meta.is_dir => Some(check(&output, &segments, env)?),
        _ => None,
    };
    Ok(render(path, &segments, checked))
}

/// Checks the checksums of all segments of the output; returns the bytes of the segments.
fn check(output: &Path, segments: &[Segment], env: &Env) -> Result<u64> {
    let file = NamedFile::open(&*env.files, output, Code::Input)?;
    let len = file.len()?;
    let control = super::control();
    let mut piece = vec![0; PIECE_BYTES];
    let mut total = 0;
    for (partition, segment) in segments.iter().enumerate() {
        let damaged = |what: &str| {
            Error::new(Code::Corrupt, format!("{what} of partition {partition}"))
                .at_path(output.to_string_lossy())
                .at_offset(segment.start)
                .hint("the map task that wrote it must run again")
        };
        let end = segment.start.checked_add(segment.stored).filter(|end| *end <= len);
        let Some(end) = end else { return Err(damaged("the file ends before the segment")) };
        // A partition without records may have no bytes.
        let Some(body) = segment.stored.checked_sub(4) else { continue };
        let mut hasher = crc32fast::Hasher::new();
        let mut at = segment.start;
        while at < segment.start + body {
            control.cancelled().check()?;
            let n = (segment.start + body - at).min(PIECE_BYTES as u64) as usize;
            file.read_exact(&mut piece[..n], at)?;
            hasher.update(&piece[..n]);
            at += n as u64;
        }
        let mut checksum = [0; 4];
        file.read_exact(&mut checksum, end - 4)?;
        if hasher.finalize() != u32::from_be_bytes(checksum) {
            return Err(damaged("wrong checksum in the segment"));
        }
        total += segment.stored;
    }
    Ok(total)
}

fn render(path: &Path, segments: &[Segment], checked: Option<u64>) -> Inspection {
    let (raw, stored) = segments
        .iter()
        .fold((0u64, 0u64), |(raw, stored), s| (raw.saturating_add(s.raw), stored.saturating_add(s.stored)));
    let sound = match checked {
        Some(bytes) => format!("the checksums of all {} of segments are correct", numbers::bytes(bytes)),
        None => "the output file is not beside it".into(),
    };
    let mut text = format!(
        "{}: map output of Hadoop: {}, {} of records stored as {}; {sound}\n\n",
        path.display(),
        numbers::several(segments.len() as u64, "partition"),
        numbers::bytes(raw),
        numbers::bytes(stored)
    );
    let mut table = Table::new(&[
        ("partition", Side::Right),
        ("starts at", Side::Right),
        ("raw", Side::Right),
        ("stored", Side::Right),
    ]);
    for (partition, s) in segments.iter().enumerate().take(ROWS) {
        table.row(vec![
            partition.to_string(),
            numbers::count(s.start),
            numbers::bytes(s.raw),
            numbers::bytes(s.stored),
        ]);
    }
    text += &table.print(Paint::OFF);
    if segments.len() > ROWS {
        text += &format!("  and {} more\n", segments.len() - ROWS);
    }
    let list = segments.iter().map(|s| json!({ "start": s.start, "raw_bytes": s.raw, "stored_bytes": s.stored }));
    let document = json!({ "path": path.to_string_lossy(), "kind": "map-output", "partitions": list.collect::<Vec<_>>(), "checked_bytes": checked });
    Inspection { text, document }
}
