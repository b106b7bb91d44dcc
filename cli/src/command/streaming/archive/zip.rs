//! zip and jar: entries of the central directory, stored or deflated, also in the larger form (zip64).
//!
//! ```text
//!   local header, data | .. | central directory: one header an entry | [zip64 end, its place] | end, at the very end
//! ```

use std::fs::File;
use std::io::{Cursor, Read, Seek, SeekFrom, Take};
use std::os::unix::fs::FileExt;

use super::folder::Folder;
use super::{Decoded, READ_BYTES};
use yunti_base::Result;

/// Bytes of the end of the central directory with the longest comment.
const END_BYTES_MAX: u64 = 22 + 65_535;
/// Bytes of a central directory at most.
const DIRECTORY_BYTES_MAX: u64 = 1 << 30;
const LINK: u32 = 0o120_000;
const KIND: u32 = 0o170_000;

/// Entry of the central directory.
struct Entry {
    name: String,
    mode: u32,
    method: u16,
    crc: u32,
    packed: u64,
    size: u64,
    at: u64,
}

/// Unpacks all entries. Errors: as `archive::unpack`.
pub fn unpack(file: &File, folder: &Folder) -> Result<()> {
    let cut = || folder.damaged("it is no zip archive, or its end is missing");
    let length = file.metadata().map_err(|e| folder.unread(&e))?.len();
    let read = |at: u64, n: u64| -> Result<Vec<u8>> {
        if at.checked_add(n).is_none_or(|end| end > length) {
            return Err(cut());
        }
        let mut bytes = vec![0; n as usize];
        file.read_exact_at(&mut bytes, at).map_err(|e| folder.unread(&e))?;
        Ok(bytes)
    };
    let tail = read(length - length.min(END_BYTES_MAX), length.min(END_BYTES_MAX))?;
    let end = (0..tail.len().saturating_sub(21)).rev().find(|&at| tail[at..].starts_with(b"PK\x05\x06"));
    let end = end.ok_or_else(cut)?;
    let (mut n, mut bytes, mut at) =
        (u64::from(u16_at(&tail, end + 10)), u64::from(u32_at(&tail, end + 12)), u64::from(u32_at(&tail, end + 16)));
    // The larger form stands before the end, which leads to it.
    if let Some(locator) = end.checked_sub(20).filter(|&at| tail[at..].starts_with(b"PK\x06\x07")) {
        let larger = read(u64_at(&tail, locator + 8), 56)?;
        if !larger.starts_with(b"PK\x06\x06") {
            return Err(cut());
        }
        (n, bytes, at) = (u64_at(&larger, 32), u64_at(&larger, 40), u64_at(&larger, 48));
    }
    if bytes > DIRECTORY_BYTES_MAX {
        return Err(cut());
    }
    let directory = read(at, bytes)?;
    let mut rest = &directory[..];
    for _ in 0..n {
        let (entry, behind) = take_entry(rest, folder)?;
        rest = behind;
        let header = read(entry.at, 30)?;
        if !header.starts_with(b"PK\x03\x04") {
            return Err(folder.damaged(format!("the entry {} is not where it should be", entry.name)));
        }
        let data = entry.at + 30 + u64::from(u16_at(&header, 26)) + u64::from(u16_at(&header, 28));
        if data.checked_add(entry.packed).is_none_or(|end| end > length) {
            return Err(cut());
        }
        let mut from = file;
        from.seek(SeekFrom::Start(data)).map_err(|e| folder.unread(&e))?;
        make(&entry, from.take(entry.packed), folder)?;
    }
    Ok(())
}

fn take_entry<'d>(directory: &'d [u8], folder: &Folder) -> Result<(Entry, &'d [u8])> {
    let wrong = || folder.damaged("its directory is damaged");
    if directory.len() < 46 || !directory.starts_with(b"PK\x01\x02") {
        return Err(wrong());
    }
    let d = directory;
    let (name_len, extra_len, comment_len) = (u16_at(d, 28) as usize, u16_at(d, 30) as usize, u16_at(d, 32) as usize);
    let name = d.get(46..46 + name_len).ok_or_else(wrong)?;
    let extra = d.get(46 + name_len..46 + name_len + extra_len).ok_or_else(wrong)?;
    let behind = d.get(46 + name_len + extra_len + comment_len..).ok_or_else(wrong)?;
    let name = String::from_utf8_lossy(name).into_owned();
    if u16_at(d, 8) & 1 != 0 {
        return Err(folder.damaged(format!("the entry {name} is encrypted")));
    }
    // Numbers that do not fit stand in the extra field 1, in this order.
    let mut larger = extra_field(extra, 1).unwrap_or_default();
    let mut number = |short: u32| match short {
        u32::MAX if larger.len() >= 8 => {
            let number = u64_at(larger, 0);
            larger = &larger[8..];
            number
        }
        short => u64::from(short),
    };
    let (size, packed, at) = (number(u32_at(d, 24)), number(u32_at(d, 20)), number(u32_at(d, 42)));
    // A system that is Unix has the mode in the upper half.
    let mode = if d[5] == 3 { u32_at(d, 38) >> 16 } else { 0o644 };
    let mode = if mode == 0 { 0o644 } else { mode };
    Ok((Entry { name, mode, method: u16_at(d, 10), crc: u32_at(d, 16), packed, size, at }, behind))
}

fn extra_field(mut extra: &[u8], id: u16) -> Option<&[u8]> {
    while extra.len() >= 4 {
        let (found, length) = (u16_at(extra, 0), u16_at(extra, 2) as usize);
        let data = extra.get(4..4 + length)?;
        if found == id {
            return Some(data);
        }
        extra = &extra[4 + length..];
    }
    None
}

fn make(entry: &Entry, data: Take<&File>, folder: &Folder) -> Result<()> {
    if entry.name.ends_with('/') {
        return folder.directory(&entry.name);
    }
    // The engine's decoder reads gzip, so the data gets its header and its trailer, whose sums it checks.
    let mut trailer = entry.crc.to_le_bytes().to_vec();
    trailer.extend_from_slice(&(entry.size as u32).to_le_bytes());
    let header = b"\x1f\x8b\x08\0\0\0\0\0\0\xff";
    let mut source: Box<dyn Read> = match entry.method {
        0 if entry.packed == entry.size => {
            Box::new(Checked { from: data, left: entry.size, crc: entry.crc, sum: Default::default() })
        }
        8 => Box::new(Decoded::new(Cursor::new(header).chain(data).chain(Cursor::new(trailer)))?),
        other => {
            let what = format!("the entry {} is packed by method {other}", entry.name);
            return Err(folder.damaged(what).hint("pack it by deflate"));
        }
    };
    if entry.mode & KIND == LINK {
        let mut target = String::new();
        source.take(READ_BYTES as u64).read_to_string(&mut target).map_err(|e| folder.unread(&e))?;
        return folder.link(&entry.name, &target);
    }
    folder.file(&entry.name, entry.mode, entry.size, &mut *source)?;
    // The checksum is behind the last byte.
    match source.read(&mut [0]) {
        Ok(0) => Ok(()),
        Ok(_) => Err(folder.damaged(format!("the entry {} is longer than its size", entry.name))),
        Err(e) => Err(folder.unread(&e)),
    }
}

/// Stored data, whose checksum is compared at its end.
struct Checked<R> {
    from: R,
    left: u64,
    crc: u32,
    sum: crc32fast::Hasher,
}

impl<R: Read> Read for Checked<R> {
    fn read(&mut self, to: &mut [u8]) -> std::io::Result<usize> {
        let n = self.from.read(to)?;
        self.sum.update(&to[..n]);
        self.left -= n as u64;
        if self.left == 0 && self.sum.clone().finalize() != self.crc {
            return Err(std::io::Error::new(std::io::ErrorKind::InvalidData, "a checksum does not fit"));
        }
        Ok(n)
    }
}

fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes([bytes[at], bytes[at + 1]])
}
fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}
fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from(u32_at(bytes, at)) | u64::from(u32_at(bytes, at + 4)) << 32
}
