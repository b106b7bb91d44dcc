//! Parts of an xz file: its streams and their blocks, by the index at the end of each stream, from the last to the
//! first.
//!
//! ```text
//!   stream:   header(12)  block block ..  index  CRC32 index-size(4) flags(2) 'YZ'   [00 00 00 00] ..
//!   index:    00  count  (stored bytes, raw bytes) of each block  padding to 4  CRC32
//!   a part:   header | block block | an index of these blocks, and an end      within one stream
//! ```
//!
//! Numbers of an index have groups of seven bits, the lowest first. The decoder compares the index of a part with the
//! blocks in it, so that each number of the file's index is checked.

use crc32fast::hash as crc32;

use super::cutter::Cutter;
use super::le32;
use super::part::Part;
use super::window::{WALK_BYTES, Window};
use crate::bytes::varint;
use crate::env::NamedFile;
use yunti_base::Result;

const MAGIC: &[u8; 6] = b"\xFD7zXZ\0";
const END: &[u8; 2] = b"YZ";
const EDGE_BYTES: u64 = 12;
/// Bytes of an index, at most: about two million blocks.
const INDEX_BYTES_MAX: u64 = 16 << 20;

/// Bytes of zeros between streams, at most.
const PADDING_BYTES_MAX: u64 = 1 << 20;

/// One stream, as its index describes it.
struct Stream {
    start: u64,
    /// Start of the next stream, behind index, end and padding.
    next: u64,
    header: [u8; 12],
    /// Stored and raw bytes of each block.
    blocks: Vec<(u64, u64)>,
}

/// Returns the parts of a file, and the bytes of the largest dictionary; None for bytes that are not xz streams.
///
/// Errors: those of reads.
pub fn find(file: &NamedFile, file_bytes: u64, target_bytes: u64) -> Result<Option<(Vec<Part>, u64)>> {
    let mut window = Window::new(file, WALK_BYTES);
    let mut streams = Vec::new();
    let mut end = file_bytes;
    while end > 0 {
        let Some(stream) = stream_before(&mut window, end)? else { return Ok(None) };
        end = stream.start;
        streams.push(stream);
    }
    let (mut cutter, mut dictionary_bytes) = (Cutter::new(target_bytes, file_bytes), 0);
    for stream in streams.iter().rev() {
        if !stream.blocks.is_empty() {
            let Some(bytes) = dictionary_of(&mut window, stream.start + EDGE_BYTES)? else { return Ok(None) };
            dictionary_bytes = dictionary_bytes.max(bytes);
        }
        cutter.member(stream.start);
        cut_stream(stream, &mut cutter);
    }
    Ok(Some((cutter.finish(), dictionary_bytes)))
}

/// Cuts a stream between blocks. A part that begins within the stream ends with it.
fn cut_stream(stream: &Stream, cutter: &mut Cutter) {
    let (mut at, mut first) = (stream.start + EDGE_BYTES, 0);
    for (number, &(stored, _)) in stream.blocks.iter().enumerate() {
        if number > 0 && cutter.wants(at) {
            cutter.cut(at, at, stream.ending(first, number), stream.header.to_vec());
            first = number;
        }
        at += stored.next_multiple_of(4);
    }
    if first > 0 {
        cutter.cut(stream.next, at, stream.ending(first, stream.blocks.len()), Vec::new());
    }
}

impl Stream {
    /// Returns the index of blocks [from, to), and the end of a stream.
    fn ending(&self, from: usize, to: usize) -> Vec<u8> {
        let mut index = vec![0];
        varint::put(&mut index, (to - from) as u64);
        for &(stored, raw) in &self.blocks[from..to] {
            varint::put(&mut index, stored);
            varint::put(&mut index, raw);
        }
        index.resize(index.len().next_multiple_of(4), 0);
        index.extend(crc32(&index).to_le_bytes());
        let mut end = (index.len() as u32 / 4 - 1).to_le_bytes().to_vec();
        end.extend(&self.header[6..8]);
        index.extend(crc32(&end).to_le_bytes());
        index.extend(end);
        index.extend(END);
        index
    }
}

/// Returns the stream, with its padding, that ends at `end`; None if its index does not describe it.
fn stream_before(window: &mut Window<'_>, end: u64) -> Result<Option<Stream>> {
    let next = end;
    let Some(end) = before_padding(window, end)? else { return Ok(None) };
    let Some(footer) = window.array::<12>(end.saturating_sub(EDGE_BYTES))? else { return Ok(None) };
    let index_bytes = (u64::from(le32(&footer[4..])) + 1) * 4;
    let index_end = end.saturating_sub(EDGE_BYTES);
    let is_footer = footer[10..] == *END && le32(&footer) == crc32(&footer[4..10]);
    if !is_footer || index_bytes > INDEX_BYTES_MAX || index_end < EDGE_BYTES + index_bytes {
        return Ok(None);
    }
    let index_start = index_end - index_bytes;
    let Some(blocks) = blocks_of(window.bytes(index_start, index_bytes as usize)?) else { return Ok(None) };
    let stored = blocks.iter().try_fold(0u64, |sum, block| sum.checked_add(block.0.checked_next_multiple_of(4)?));
    let Some(start) = stored.and_then(|stored| index_start.checked_sub(stored)?.checked_sub(EDGE_BYTES)) else {
        return Ok(None);
    };
    let Some(header) = window.array::<12>(start)? else { return Ok(None) };
    let is_header =
        header[..6] == *MAGIC && header[6..8] == footer[8..10] && le32(&header[8..]) == crc32(&header[6..8]);
    Ok(is_header.then_some(Stream { start, next, header, blocks }))
}

/// Returns the end of the last stream before `end`: zeros in fours may follow a stream.
fn before_padding(window: &mut Window<'_>, mut end: u64) -> Result<Option<u64>> {
    let least = end.saturating_sub(PADDING_BYTES_MAX);
    while end >= least + 4 && end > EDGE_BYTES {
        // The window reads forwards, so it is moved by its whole size.
        let from = end.saturating_sub(WALK_BYTES as u64);
        let bytes = window.bytes(from, (end - from) as usize)?;
        let zeros = bytes.iter().rev().take_while(|&&byte| byte == 0).count();
        end -= zeros as u64 / 4 * 4;
        if zeros < bytes.len() {
            return Ok((zeros % 4 == 0).then_some(end));
        }
    }
    Ok(None)
}

/// Returns stored and raw bytes of each block of an index; None for a damaged one.
fn blocks_of(index: &[u8]) -> Option<Vec<(u64, u64)>> {
    let (body, checksum) = index.split_at_checked(index.len().checked_sub(4)?)?;
    if le32(checksum) != crc32(body) || body.first() != Some(&0) {
        return None;
    }
    let mut rest = &body[1..];
    let count = take_number(&mut rest)?;
    // A block takes at least two bytes of the index.
    let mut blocks = Vec::with_capacity(count.min(rest.len() as u64 / 2) as usize);
    for _ in 0..count {
        let (stored, raw) = (take_number(&mut rest)?, take_number(&mut rest)?);
        if stored < 5 {
            return None;
        }
        blocks.push((stored, raw));
    }
    (rest.len() < 4 && rest.iter().all(|&byte| byte == 0)).then_some(blocks)
}

/// Returns the bytes of the dictionary of a block, by the last filter in its header.
fn dictionary_of(window: &mut Window<'_>, at: u64) -> Result<Option<u64>> {
    let Some([size]) = window.array::<1>(at)? else { return Ok(None) };
    let header_bytes = (usize::from(size) + 1) * 4;
    let header = window.bytes(at, header_bytes)?;
    if size == 0
        || header.len() < header_bytes
        || le32(&header[header_bytes - 4..]) != crc32(&header[..header_bytes - 4])
    {
        return Ok(None);
    }
    Ok(dictionary_in(&header[1..header_bytes - 4]))
}

fn dictionary_in(fields: &[u8]) -> Option<u64> {
    const LZMA2: u64 = 0x21;
    let (&flags, mut rest) = fields.split_first()?;
    for flag in [0x40, 0x80] {
        if flags & flag != 0 {
            take_number(&mut rest)?;
        }
    }
    for _ in 0..=flags & 3 {
        let (id, bytes) = (take_number(&mut rest)?, take_number(&mut rest)?);
        let (properties, behind) = rest.split_at_checked(usize::try_from(bytes).ok()?)?;
        rest = behind;
        if id == LZMA2 {
            let bits = u32::from(*properties.first()?);
            return match bits {
                0..40 => Some(u64::from(2 | bits & 1) << (bits / 2 + 11)),
                _ => Some(u64::from(u32::MAX)),
            };
        }
    }
    None
}

/// Takes a number of at most nine bytes; a longer form than needed is damage.
fn take_number(bytes: &mut &[u8]) -> Option<u64> {
    let mut len = 0;
    let number = varint::get(bytes, &mut len)?;
    let (taken, rest) = bytes.split_at(len);
    *bytes = rest;
    let is_shortest = len == 1 || taken[len - 1] != 0;
    (len <= 9 && is_shortest).then_some(number)
}
