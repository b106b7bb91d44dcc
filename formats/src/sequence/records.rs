//! Records between two markers: those of a stretch of a file, one after another.
//!
//! ```text
//!   record    length: int | length of the key: int | key | value, compressed or not
//!   marker    -1: int | sync: 16 bytes          before a record, about every 100 kB, and before each block
//!   block     marker | records: vint | lengths of keys | keys | lengths of values | values
//!             each of the four: stored bytes: vint | stored bytes, compressed
//! ```
//!
//! A marker belongs to the stretch in which it begins, with all records to the next one. So a file is cut into
//! stretches of any length, and each record is read once, as Hadoop's splits have it.

use std::ops::Range;

use yunti_api::{Error, Result};

use super::header::{Header, SYNC_BYTES};
use super::window::Window;
use super::writable::vlong;
use crate::file::input::Input;

/// Bytes of a marker with the number before it.
const MARK_BYTES: usize = 4 + SYNC_BYTES;
/// Bytes that are searched for a marker at a time.
const SEARCH_BYTES: usize = 64 << 10;
/// Bytes of a record without its key and value.
const RECORD_HEAD_BYTES: u64 = 8;

/// Reader of a stretch.
pub struct Records {
    file: Input,
    header: Header,
    window: Window,
    end: u64,
    /// True when there are no more.
    is_done: bool,
    block: Block,
    /// Value that was decompressed alone.
    value: Vec<u8>,
    /// Key of the record, where the window moves behind it.
    key: Vec<u8>,
}

/// Decompressed parts of a block, and the places in them.
#[derive(Default)]
struct Block {
    records: u64,
    /// Lengths of keys, keys, lengths of values, values.
    parts: [Vec<u8>; 4],
    at: [usize; 4],
}

impl Records {
    /// Begins at the first marker of a stretch, or behind the header. Fails if the file cannot be read.
    pub fn open(file: &Input, header: &Header, range: Range<u64>) -> Result<Records> {
        let start = range.start.max(header.end);
        let mut records = Records {
            file: file.clone(),
            header: header.clone(),
            window: Window::new(file, start),
            end: range.end,
            is_done: start >= range.end,
            block: Block::default(),
            value: Vec::new(),
            key: Vec::new(),
        };
        if range.start > header.end && !records.is_done {
            records.is_done = !records.find_marker()?;
        }
        Ok(records)
    }

    /// Moves to the first marker that begins in the stretch. Returns false if there is none.
    fn find_marker(&mut self) -> Result<bool> {
        let mut marker = [0xff; MARK_BYTES];
        marker[4..].copy_from_slice(&self.header.sync);
        while self.window.offset() < self.end && self.window.left() >= MARK_BYTES as u64 {
            let until_end = (self.end - self.window.offset()).min(SEARCH_BYTES as u64) as usize;
            let bytes = self.window.peek(until_end + MARK_BYTES - 1)?;
            let searched = until_end.min(bytes.len());
            match memchr::memmem::find(bytes, &marker) {
                Some(at) => {
                    self.window.skip(at)?;
                    return Ok(true);
                }
                None => self.window.skip(searched)?,
            }
        }
        Ok(false)
    }

    /// Returns the bytes of the next key and value; None at the end of the stretch.
    pub fn next(&mut self) -> Result<Option<(&[u8], &[u8])>> {
        if self.is_done {
            return Ok(None);
        }
        if self.header.in_blocks { self.next_of_block() } else { self.next_record() }
    }

    fn damaged(&self, what: &str) -> Error {
        Error::damaged(format!("the SequenceFile is damaged: {what} at byte {}", self.window.offset()))
    }

    /// Passes a marker, if one follows. Returns false at the end of the stretch or of the file.
    fn pass_marker(&mut self) -> Result<bool> {
        let offset = self.window.offset();
        if self.window.left() == 0 {
            return Ok(false);
        }
        if self.window.peek(4)? != [0xff; 4] {
            return if self.header.in_blocks { Err(self.damaged("a block without a marker")) } else { Ok(true) };
        }
        if offset >= self.end {
            return Ok(false);
        }
        let sync = self.header.sync;
        if self.window.take(MARK_BYTES)?[4..] != sync {
            return Err(Error::damaged(format!("the SequenceFile is damaged: a wrong marker at byte {offset}")));
        }
        // The file may end with a marker.
        Ok(self.window.left() > 0)
    }

    fn next_record(&mut self) -> Result<Option<(&[u8], &[u8])>> {
        // A marker without records may be followed by another one.
        loop {
            if !self.pass_marker()? {
                self.is_done = true;
                return Ok(None);
            }
            if self.window.left() < 4 || self.window.peek(4)? != [0xff; 4] {
                break;
            }
        }
        let head = self.window.take(RECORD_HEAD_BYTES as usize);
        let head = *head?.first_chunk::<8>().expect("it has eight bytes");
        let number = |at: usize| i32::from_be_bytes(*head[at..].first_chunk().expect("it has four bytes"));
        let (length, key) = (number(0), number(4));
        if length < 0 || key < 0 || key > length || length as u64 > self.window.left() {
            return Err(self.damaged("a record with wrong lengths before it, which ends"));
        }
        let (key, value) = (key as usize, (length - key) as usize);
        let memory = self.memory();
        self.window.other_memory = memory;
        let Some(codec) = self.header.codec else {
            let bytes = self.window.take(key + value)?;
            return Ok(Some(bytes.split_at(key)));
        };
        let stored = self.window.take(key + value)?;
        let (stored_key, stored_value) = stored.split_at(key);
        self.key.clear();
        self.key.extend_from_slice(stored_key);
        let held = (stored.len() + self.key.capacity()) as u64;
        let file = &self.file;
        codec.decode(stored_value, &mut self.value, &mut |bytes| file.hold(held + memory + bytes))?;
        Ok(Some((&self.key, &self.value)))
    }

    fn next_of_block(&mut self) -> Result<Option<(&[u8], &[u8])>> {
        while self.block.records == 0 {
            if !self.pass_marker()? {
                self.is_done = true;
                return Ok(None);
            }
            self.read_block()?;
        }
        self.block.records -= 1;
        let key = self.block.take_length(0);
        let value = self.block.take_length(2);
        let places = match (key, value) {
            (Some(key), Some(value)) => self.block.place(1, key).zip(self.block.place(3, value)),
            _ => None,
        };
        let Some((key, value)) = places else {
            return Err(self.damaged("a block with wrong lengths of records, which ends"));
        };
        if self.block.records == 0 && self.block.at.iter().zip(&self.block.parts).any(|(at, part)| *at != part.len()) {
            return Err(self.damaged("a block with more bytes than its records have, which ends"));
        }
        Ok(Some((&self.block.parts[1][key], &self.block.parts[3][value])))
    }

    fn read_block(&mut self) -> Result<()> {
        let records = self.window.vint()?;
        self.block.at = [0; 4];
        self.block.records = u64::try_from(records).map_err(|_| self.damaged("a block with a wrong count before"))?;
        let Some(codec) = self.header.codec else { return Err(self.damaged("a block without a codec")) };
        for number in 0..4 {
            let length = self.window.length()?;
            self.window.other_memory = self.memory();
            let mut part = std::mem::take(&mut self.block.parts[number]);
            let others = self.memory();
            let stored = self.window.take(length)?;
            let held = others + stored.len() as u64;
            let file = &self.file;
            codec.decode(stored, &mut part, &mut |bytes| file.hold(held + bytes))?;
            self.block.parts[number] = part;
        }
        // Each length takes a byte at least.
        if self.block.parts[0].len().min(self.block.parts[2].len()) as u64 >= self.block.records {
            Ok(())
        } else {
            Err(self.damaged("a block with fewer records than it counts, which ends"))
        }
    }

    /// Returns the memory besides the window.
    fn memory(&self) -> u64 {
        let parts = self.block.parts.iter().map(|part| part.capacity()).sum::<usize>();
        (parts + self.value.capacity() + self.key.capacity()) as u64 + self.window.memory()
    }
}

impl Block {
    fn take_length(&mut self, part: usize) -> Option<usize> {
        let (length, n) = vlong(&self.parts[part][self.at[part]..])?;
        self.at[part] += n;
        usize::try_from(length).ok()
    }

    fn place(&mut self, part: usize, length: usize) -> Option<Range<usize>> {
        let start = self.at[part];
        let end = start.checked_add(length).filter(|end| *end <= self.parts[part].len())?;
        self.at[part] = end;
        Some(start..end)
    }
}
