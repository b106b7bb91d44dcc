//! A file of an output on its way to a store: staged in a scratch file, and uploaded by parts as they fill up.
//!
//! ```text
//!   write_at -->  | part 0: sent | part 1: under way | part 2: [written....][hole][written] |
//! ```
//!
//! Stores want parts of 5 MiB or more, and a job may write a thousand files at once. So the bytes wait in the page
//! cache and on disk, not in the job's memory. Workers write a file out of order; a part is sent when it has no hole.

use std::collections::BTreeMap;
use std::io;
use std::os::unix::fs::FileExt;
use std::sync::{Arc, Mutex, MutexGuard};

use yunti_base::store_protocol::{Answer, Ask, UploadedFile};

use super::link::{Link, Ticket, odd_answer};
use crate::env::files::{File, LockScope};

/// Bytes of the first parts. A store takes 10,000 parts, so later ones are larger.
const PART_BYTES: u64 = if cfg!(debug_assertions) { 20_000 } else { 8 << 20 };
/// Parts of one size; the next ones are twice as large.
const PARTS_OF_A_SIZE: u64 = 1000;
/// Parts of a file that are under way at once.
const UNDER_WAY_MAX: usize = 6;

/// File that is written.
pub struct Upload {
    link: Arc<Link>,
    url: String,
    /// Name within the output.
    name: String,
    /// True if the store takes parts one after the other.
    in_order: bool,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    len: u64,
    upload: Option<String>,
    parts: BTreeMap<u32, Part>,
    /// Set when the file is done or given up.
    is_closed: bool,
}

#[derive(Default)]
struct Part {
    /// Place in staging.
    at: u64,
    /// Written stretches, end by start, from the start of the part.
    written: BTreeMap<u64, u64>,
    ticket: Option<Ticket>,
    mark: Option<String>,
    is_sent: bool,
}

impl Part {
    fn note(&mut self, mut start: u64, mut end: u64) {
        while let Some((&from, &to)) = self.written.range(..=end).next_back().filter(|(_, to)| **to >= start) {
            (start, end) = (start.min(from), end.max(to));
            self.written.remove(&from);
        }
        self.written.insert(start, end);
    }

    fn is_full(&self, len: u64) -> bool {
        self.written.get(&0) == Some(&len)
    }
}

/// Returns the number, the start and the bytes of the part that has an offset.
fn part_of(offset: u64) -> (u32, u64, u64) {
    let (mut start, mut bytes, mut number) = (0, PART_BYTES, 0);
    while offset - start >= bytes * PARTS_OF_A_SIZE {
        start += bytes * PARTS_OF_A_SIZE;
        number += PARTS_OF_A_SIZE;
        bytes *= 2;
    }
    let within = (offset - start) / bytes;
    ((number + within) as u32, start + within * bytes, bytes)
}

impl Upload {
    pub fn new(link: Arc<Link>, url: String, name: String) -> Upload {
        let in_order = url.starts_with("hdfs:");
        Upload { link, url, name, in_order, state: Mutex::default() }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// Writes bytes of one part.
    fn write_part(&self, state: &mut State, bytes: &[u8], offset: u64) -> io::Result<usize> {
        let (number, start, part_bytes) = part_of(offset);
        let n = bytes.len().min((start + part_bytes - offset) as usize);
        let link = &self.link;
        let part = state.parts.entry(number).or_insert_with(|| Part { at: link.stage(part_bytes), ..Part::default() });
        if part.is_sent {
            let text = "a store cannot change bytes that were written before; write the output to a directory";
            return Err(io::Error::new(io::ErrorKind::Unsupported, text));
        }
        let within = offset - start;
        link.staging()?.write_all_at(&bytes[..n], part.at + within)?;
        part.note(within, within + n as u64);
        state.len = state.len.max(offset + n as u64);
        if part.is_full(part_bytes) {
            self.send(state, false)?;
        }
        Ok(n)
    }

    /// Sends the parts that are full, or all of them at the `end`.
    fn send(&self, state: &mut State, end: bool) -> io::Result<()> {
        let len = state.len;
        if state.upload.is_none() {
            let Answer::Text(upload) = self.link.call(Ask::Upload { url: self.url.clone() })? else {
                return Err(odd_answer());
            };
            state.upload = Some(upload);
        }
        let Some(upload) = state.upload.clone() else { return Err(odd_answer()) };
        let numbers: Vec<u32> = state.parts.keys().copied().collect();
        for (i, number) in numbers.into_iter().enumerate() {
            let (start, full) = start_of(number);
            let bytes = if end { full.min(len - start) } else { full };
            let Some(part) = state.parts.get_mut(&number) else { continue };
            if part.is_sent {
                continue;
            }
            if !part.is_full(bytes) || (self.in_order && number as usize != i) {
                if end {
                    return Err(io::Error::other("a file of the output has a hole"));
                }
                if self.in_order {
                    break;
                }
                continue;
            }
            let (url, upload, at) = (self.url.clone(), upload.clone(), part.at);
            part.ticket = Some(self.link.submit(Ask::Part { url, upload, index: number, at, len: bytes })?);
            part.is_sent = true;
            self.collect(state, if self.in_order { 0 } else { UNDER_WAY_MAX })?;
        }
        Ok(())
    }

    /// Takes the answers that are there, and waits until at most `most` parts are under way.
    fn collect(&self, state: &mut State, most: usize) -> io::Result<()> {
        let mut under_way = state.parts.values().filter(|part| part.ticket.is_some()).count();
        for (&number, part) in &mut state.parts {
            let Some(ticket) = &part.ticket else { continue };
            if under_way <= most && !self.link.is_done(ticket) {
                continue;
            }
            let Some(ticket) = part.ticket.take() else { continue };
            let Answer::Text(mark) = self.link.wait(ticket)? else { return Err(odd_answer()) };
            part.mark = Some(mark);
            under_way -= 1;
            free(self.link.staging()?, part.at, start_of(number).1);
        }
        Ok(())
    }

    /// Sends the rest. Returns what the commit needs.
    pub fn finish(&self) -> io::Result<UploadedFile> {
        let mut state = self.lock();
        state.is_closed = true;
        if state.upload.is_none() {
            // One part, or none.
            let staged = match state.parts.get(&0) {
                Some(part) if !part.is_full(state.len) => {
                    return Err(io::Error::other("a file of the output has a hole"));
                }
                part => (part.map_or(0, |part| part.at), state.len),
            };
            if state.parts.len() <= 1 {
                return Ok(UploadedFile { name: self.name.clone(), upload: None, staged });
            }
        }
        self.send(&mut state, true)?;
        self.collect(&mut state, 0)?;
        let marks = state.parts.values().map(|part| part.mark.clone().unwrap_or_default()).collect();
        let upload = state.upload.clone().map(|upload| (upload, marks));
        Ok(UploadedFile { name: self.name.clone(), upload, staged: (0, 0) })
    }

    /// Gives the file up: nothing of it stays.
    pub fn abort(&self) -> io::Result<()> {
        let mut state = self.lock();
        state.is_closed = true;
        // Parts that are under way would come after the end.
        let _ = self.collect(&mut state, 0);
        if let Ok(staging) = self.link.staging() {
            state.parts.iter().for_each(|(&number, part)| free(staging, part.at, start_of(number).1));
        }
        match state.upload.take() {
            Some(upload) => self.link.call(Ask::Abort { url: self.url.clone(), upload }).map(|_| ()),
            None => Ok(()),
        }
    }

    /// Returns the bytes so far.
    pub fn bytes(&self) -> u64 {
        self.lock().len
    }
}

/// Returns the start and the bytes of a part.
fn start_of(number: u32) -> (u64, u64) {
    let (mut start, mut bytes, mut left) = (0, PART_BYTES, u64::from(number));
    while left >= PARTS_OF_A_SIZE {
        start += bytes * PARTS_OF_A_SIZE;
        left -= PARTS_OF_A_SIZE;
        bytes *= 2;
    }
    (start + left * bytes, bytes)
}

/// Frees the blocks of staging that were sent; a file system that cannot keeps them until the job ends.
fn free(staging: &std::fs::File, at: u64, len: u64) {
    use rustix::fs::{FallocateFlags, fallocate};
    let _ = fallocate(staging, FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE, at, len);
}

impl File for Upload {
    fn read_at(&self, _: &mut [u8], _: u64) -> io::Result<usize> {
        Err(io::Error::new(io::ErrorKind::Unsupported, "an output of a store is not read before its commit"))
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<usize> {
        let mut state = self.lock();
        if state.is_closed {
            return Err(io::Error::other("the output is closed"));
        }
        self.write_part(&mut state, bytes, offset)
    }

    fn len(&self) -> io::Result<u64> {
        Ok(self.bytes())
    }
    fn allocate(&self, _: u64) -> io::Result<()> {
        Ok(())
    }
    fn truncate(&self, len: u64) -> io::Result<()> {
        if len == self.bytes() {
            return Ok(());
        }
        Err(io::Error::new(io::ErrorKind::Unsupported, "a store cannot cut a file"))
    }
    /// Does nothing: what a store has answered for is stored.
    fn sync(&self) -> io::Result<()> {
        Ok(())
    }
    fn punch(&self, _: u64, _: u64) {}
    fn lock(&self) -> io::Result<LockScope> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_cover_a_file_without_gaps() {
        let (mut offset, mut number) = (0, 0);
        while number < 3500 {
            let (part, start, bytes) = part_of(offset);
            assert_eq!((part, start), (number, offset));
            assert_eq!(start_of(number), (start, bytes));
            assert_eq!(part_of(offset + bytes - 1), (part, start, bytes));
            offset += bytes;
            number += 1;
        }
        // The largest object of S3 has 5 TB and 10,000 parts.
        assert!(start_of(9_999).0 > (5 << 40) * PART_BYTES / (8 << 20));
    }

    #[test]
    fn written_stretches_join() {
        let mut part = Part::default();
        for (start, end) in [(5, 7), (0, 2), (2, 3), (9, 10), (6, 9), (3, 5)] {
            assert!(!part.is_full(10));
            part.note(start, end);
        }
        assert!(part.is_full(10), "{:?}", part.written);
    }
}
