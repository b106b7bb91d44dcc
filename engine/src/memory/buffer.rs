//! A byte buffer in its own mapping, backed by huge pages if it is large, with slack behind its end.
//! One of the listed files with `unsafe`: it maps and unmaps memory.
//!
//! Fresh 4 KiB page faults cost more than the work on the bytes (1 GB/s against 13 GB/s). Large buffers therefore
//! request huge pages, and callers reuse their buffers.

use std::ops::{Deref, DerefMut};

use super::budget::Grant;
use yunti_base::{Code, Error, Result};

/// Bytes: readable and writable slack behind every buffer's end, so that 64-byte steps need no tail case.
pub const SLACK_BYTES: usize = 64;

/// A page-aligned byte buffer, zeroed when it is made.
pub struct Buffer {
    base: *mut u8,
    len: usize,
    mapped: usize,
    grant: Option<Grant>,
}

// SAFETY: a Buffer owns its mapping alone; access goes through &self and &mut self like a Vec's.
unsafe impl Send for Buffer {}
// SAFETY: as above: shared access only reads.
unsafe impl Sync for Buffer {}

impl Buffer {
    /// Returns a buffer of `len` zero bytes that keeps `grant` as long as it lives (None for small buffers).
    ///
    /// Fails with `Code::Memory` if the system cannot map the memory.
    pub fn new(len: usize, grant: Option<Grant>) -> Result<Buffer> {
        let mapped = (len + SLACK_BYTES).next_multiple_of(4096);
        let base = map(mapped)?;
        if mapped >= 1 << 20 {
            advise_huge(base, mapped);
        }
        Ok(Buffer { base, len, mapped, grant })
    }

    /// Grows the buffer to `len` bytes: the old bytes stay, zeros follow.
    ///
    /// Pages are moved without a copy, so both lengths are never allocated at once. Fails with `Code::Memory`, without
    /// a change, if the memory is not available.
    pub fn grow(&mut self, len: usize, purpose: &str) -> Result<()> {
        if let Some(grant) = &mut self.grant {
            grant.grow(len as u64, purpose)?;
        }
        let mapped = (len + SLACK_BYTES).next_multiple_of(4096);
        self.base = remap(self.base, self.mapped, mapped)?;
        (self.len, self.mapped) = (len, mapped);
        if mapped >= 1 << 20 {
            advise_huge(self.base, mapped);
        }
        Ok(())
    }

    /// Returns the address of the first byte.
    pub fn as_ptr(&self) -> *const u8 {
        self.base
    }

    /// Returns the bytes and the slack behind them.
    pub fn with_slack(&self) -> &[u8] {
        // SAFETY: `mapped` covers len + SLACK_BYTES, and lives as long as self.
        unsafe { std::slice::from_raw_parts(self.base, self.len + SLACK_BYTES) }
    }

    /// Returns the bytes and the slack behind them, for writing.
    pub fn with_slack_mut(&mut self) -> &mut [u8] {
        // SAFETY: as above, and self is borrowed mutably.
        unsafe { std::slice::from_raw_parts_mut(self.base, self.len + SLACK_BYTES) }
    }
}

impl Deref for Buffer {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        &self.with_slack()[..self.len]
    }
}

impl DerefMut for Buffer {
    fn deref_mut(&mut self) -> &mut [u8] {
        let len = self.len;
        &mut self.with_slack_mut()[..len]
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        unmap(self.base, self.mapped);
    }
}

/// Maps private zero pages, which are committed when first touched.
pub(super) fn map(len: usize) -> Result<*mut u8> {
    // SAFETY: a fresh anonymous mapping at an address of the kernel's choice touches nothing that exists.
    let base = unsafe {
        libc::mmap(
            std::ptr::null_mut(),
            len,
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
            -1,
            0,
        )
    };
    if base == libc::MAP_FAILED {
        let e = std::io::Error::last_os_error();
        return Err(Error::io(Code::Memory, &format!("cannot map {len} bytes of memory"), &e));
    }
    Ok(base.cast())
}

fn remap(base: *mut u8, from: usize, to: usize) -> Result<*mut u8> {
    if cfg!(thread_sanitizer) {
        // The sanitizer does not see that pages move. It would report a race between the old and the new owner of an
        // address.
        let moved = map(to)?;
        // SAFETY: the caller owns one mapping and this function the other; each has at least this many bytes.
        unsafe { std::ptr::copy_nonoverlapping(base, moved, from.min(to)) };
        unmap(base, from);
        return Ok(moved);
    }
    // SAFETY: the caller owns the mapping of `from` bytes and uses the address that is returned from now on.
    let moved = unsafe { libc::mremap(base.cast(), from, to, libc::MREMAP_MAYMOVE) };
    if moved == libc::MAP_FAILED {
        let e = std::io::Error::last_os_error();
        return Err(Error::io(Code::Memory, &format!("cannot map {to} bytes of memory"), &e));
    }
    Ok(moved.cast())
}

pub(super) fn unmap(base: *mut u8, len: usize) {
    // SAFETY: the caller owns the mapping and does not touch it again.
    unsafe { libc::munmap(base.cast(), len) };
}

pub(super) fn advise_huge(base: *mut u8, len: usize) {
    // SAFETY: advice on a mapping that the caller owns; it changes no byte.
    unsafe { libc::madvise(base.cast(), len, libc::MADV_HUGEPAGE) };
}

/// Returns the pages to the system; they read as zeros afterwards.
pub(super) fn discard(base: *mut u8, len: usize) {
    // SAFETY: the caller owns the mapping and holds no reference into the range.
    unsafe { libc::madvise(base.cast(), len, libc::MADV_DONTNEED) };
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::Budget;

    #[test]
    fn buffer_grows_within_its_budget() {
        let budget = Budget::new(10_000_000);
        let mut buffer = Buffer::new(1000, budget.try_grant(1000)).unwrap();
        buffer.fill(7);
        for len in [1001, 5000, 9_000_000] {
            buffer.grow(len, "a test").unwrap();
            assert!(buffer.len() == len && buffer[..1000] == [7; 1000] && buffer[len - 1] == 0);
            assert_eq!(budget.used_bytes(), len as u64);
        }
        let error = buffer.grow(10_000_001, "a test").unwrap_err();
        assert!(error.to_string().contains("a test"), "{error}");
        assert_eq!((buffer.len(), budget.used_bytes()), (9_000_000, 9_000_000));
        drop(buffer);
        assert_eq!(budget.used_bytes(), 0);
    }
}
