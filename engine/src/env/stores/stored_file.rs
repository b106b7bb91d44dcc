//! A file of a store, read: ahead of a reader that goes from front to back, and by single ranges for any other.
//!
//! ```text
//!   read_at(10) ..  | slot | slot | slot | slot |  requests under way, in order
//!                     ^ wait for this one alone    `-- the next one is sent as soon as a slot is free
//! ```

use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard};

use yunti_base::store_protocol::{Answer, Ask, Pin};

use super::fetch::Fetch;
use super::link::{Link, odd_answer};
use super::upcoming::Upcoming;
use super::window::SPARE_BYTES;
use crate::env::files::{File, LockScope};

/// File that is read.
pub struct StoredFile {
    link: Arc<Link>,
    upcoming: Arc<Upcoming>,
    url: String,
    pin: Pin,
    ahead: Mutex<Ahead>,
}

#[derive(Default)]
struct Ahead {
    /// End of the last read: one that begins here goes on in order.
    next: u64,
    /// Stretch that its reader announced.
    announced: Option<(u64, u64)>,
    /// Requests in the order of their bytes, without gaps.
    fetches: VecDeque<Fetch>,
    /// End of what was requested.
    requested: u64,
}

impl StoredFile {
    pub fn new(link: Arc<Link>, upcoming: Arc<Upcoming>, url: String, pin: Pin) -> StoredFile {
        StoredFile { link, upcoming, url, pin, ahead: Mutex::default() }
    }

    fn lock(&self) -> MutexGuard<'_, Ahead> {
        self.ahead.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// Sends requests while slots are free, up to the end of the stretch.
    fn fetch(&self, ahead: &mut Ahead, end: u64) -> io::Result<()> {
        // Half of the slots at most: other workers read too.
        let most = (self.link.window.slots() / 2).max(1);
        while ahead.requested < end && ahead.fetches.len() < most {
            let Some((slot, slot_bytes)) = self.link.window.try_slot() else { return Ok(()) };
            let (from, len) = (ahead.requested, slot_bytes.min(end - ahead.requested));
            ahead.fetches.push_back(Fetch::send(&self.link, &self.url, &self.pin, (from, len), slot)?);
            ahead.requested += len;
        }
        Ok(())
    }

    /// Reads from the request that has the offset, or returns None.
    fn take(&self, ahead: &mut Ahead, buffer: &mut [u8], offset: u64) -> io::Result<Option<usize>> {
        while ahead.fetches.front().is_some_and(|fetch| fetch.from + fetch.len <= offset) {
            ahead.fetches.pop_front();
        }
        let Some(fetch) = ahead.fetches.front_mut().filter(|fetch| fetch.from <= offset) else { return Ok(None) };
        if let Err(e) = fetch.wait() {
            // Its slot has no bytes.
            ahead.fetches.clear();
            return Err(e);
        }
        let within = offset - fetch.from;
        let n = buffer.len().min((fetch.len - within) as usize);
        self.link.window.read(&mut buffer[..n], self.link.window.at(fetch.slot) + within)?;
        if within + n as u64 == fetch.len {
            ahead.fetches.pop_front();
        }
        Ok(Some(n))
    }

    /// Reads one range.
    fn read_once(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let len = (buffer.len() as u64).min(SPARE_BYTES);
        self.link.window.with_spare(|at| {
            let ask = Ask::Get { url: self.url.clone(), from: offset, len, at, pin: self.pin.clone() };
            match self.link.call(ask)? {
                Answer::Bytes(n) if n == len => {}
                _ => return Err(odd_answer()),
            }
            self.link.window.read(&mut buffer[..len as usize], at)
        })?;
        Ok(len as usize)
    }
}

impl File for StoredFile {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let len = (buffer.len() as u64).min(self.pin.len.saturating_sub(offset)) as usize;
        if len == 0 {
            return Ok(0);
        }
        let buffer = &mut buffer[..len];
        let mut ahead = self.lock();
        let announced = ahead.announced.filter(|&(from, to)| (from..to).contains(&offset));
        // Without a word from the reader, the second read in order is one of many.
        let goes_on = ahead.announced.is_none() && offset == ahead.next && offset > 0;
        let end = announced.map_or(self.pin.len, |(_, to)| to);
        let is_under_way = ahead.fetches.iter().any(|fetch| fetch.has(offset));
        if !is_under_way && (announced.is_some() || goes_on) {
            ahead.fetches.clear();
            ahead.requested = offset;
            if let Some(first) = self.upcoming.take(&self.url, offset) {
                ahead.requested = first.from + first.len;
                ahead.fetches.push_back(first);
            }
            self.fetch(&mut ahead, end)?;
        }
        if let Some(n) = self.take(&mut ahead, buffer, offset)? {
            ahead.next = offset + n as u64;
            self.fetch(&mut ahead, end)?;
            return Ok(n);
        }
        drop(ahead);
        let n = self.read_once(buffer, offset)?;
        self.lock().next = offset + n as u64;
        Ok(n)
    }

    fn expect(&self, from: u64, to: u64) {
        self.lock().announced = Some((from, to.min(self.pin.len)));
    }

    fn write_at(&self, _: &[u8], _: u64) -> io::Result<usize> {
        Err(io::ErrorKind::PermissionDenied.into())
    }
    fn len(&self) -> io::Result<u64> {
        Ok(self.pin.len)
    }
    fn allocate(&self, _: u64) -> io::Result<()> {
        Ok(())
    }
    fn truncate(&self, _: u64) -> io::Result<()> {
        Err(io::ErrorKind::PermissionDenied.into())
    }
    fn sync(&self) -> io::Result<()> {
        Ok(())
    }
    fn punch(&self, _: u64, _: u64) {}
    fn lock(&self) -> io::Result<LockScope> {
        Err(io::ErrorKind::Unsupported.into())
    }
}
