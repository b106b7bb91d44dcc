//! Bytes of a mapped file. One of the listed files with `unsafe`: a mapping is memory that the kernel fills.

use std::fs::File;
use std::ops::Deref;

use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mlock, mmap, munmap};

/// Begins of blocks of this size are begins of pages, whatever the size of pages.
const PAGE: usize = 64 << 10;

/// Wishes for the pages of a table. What the kernel refuses is left out, but for `lock`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Read the whole file at once, and fill the page tables of this process.
    pub populate: bool,
    /// Huge pages, where the file system of the table has them (tmpfs, and kernels with huge pages of read-only files).
    pub huge_pages: bool,
    /// Keep the pages in memory.
    pub lock: bool,
    /// Lookups in random order: the kernel reads no pages beside the needed ones. For a table that is larger than the
    /// memory, where such pages push out others that are needed.
    pub is_random: bool,
    /// Leave out the checksums: for a table that was verified on this machine.
    pub is_trusted: bool,
}

/// Bytes of a file, mapped read-only and shared with every process that maps it.
pub struct Mapping {
    begin: *mut std::ffi::c_void,
    bytes: usize,
}

// SAFETY: the pages are read-only, and unmapped by the last owner alone.
unsafe impl Send for Mapping {}
unsafe impl Sync for Mapping {}

impl Mapping {
    /// Maps the first `bytes` of a file.
    pub fn of(file: &File, bytes: usize, options: Options) -> std::io::Result<Mapping> {
        if bytes == 0 {
            return Ok(Mapping { begin: std::ptr::NonNull::dangling().as_ptr(), bytes });
        }
        let flags = if options.populate { MapFlags::SHARED | MapFlags::POPULATE } else { MapFlags::SHARED };
        // SAFETY: a new mapping at an address that the kernel chooses overlaps no memory of this process.
        let begin = unsafe { mmap(std::ptr::null_mut(), bytes, ProtFlags::READ, flags, file, 0)? };
        let mapping = Mapping { begin, bytes };
        if options.huge_pages {
            // SAFETY: the range is this mapping; the advice changes no byte. A kernel that refuses keeps small pages.
            let _ = unsafe { madvise(begin, bytes, Advice::LinuxHugepage) };
        }
        if options.lock {
            // SAFETY: the range is this mapping.
            unsafe { mlock(begin, bytes)? };
        }
        if options.is_random {
            // SAFETY: the range is this mapping; the advice changes no byte.
            let _ = unsafe { madvise(begin, bytes, Advice::Random) };
        }
        Ok(mapping)
    }

    /// Has the kernel read these bytes at once, and not page by page as they are used.
    pub fn read_ahead(&self, begin: usize, bytes: usize) {
        let begin = begin.min(self.bytes) / PAGE * PAGE;
        let bytes = bytes.min(self.bytes - begin);
        if bytes > 0 {
            // SAFETY: the range is within the mapping and begins at a page; the advice changes no byte.
            let _ = unsafe { madvise(self.begin.byte_add(begin), bytes, Advice::WillNeed) };
        }
    }

    /// Asks for the cache line of a byte: it is there when it is read some lookups later.
    #[inline]
    pub fn prefetch(&self, at: usize) {
        if at >= self.bytes {
            return;
        }
        // SAFETY: `at` is within the mapping, and a prefetch reads nothing that the program sees.
        #[cfg(target_arch = "x86_64")]
        unsafe {
            use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
            _mm_prefetch::<_MM_HINT_T0>(self.begin.cast::<i8>().add(at));
        }
        // SAFETY: as above.
        #[cfg(target_arch = "aarch64")]
        unsafe {
            std::arch::asm!("prfm pldl1keep, [{}]", in(reg) self.begin.cast::<u8>().add(at), options(nostack, readonly));
        }
    }
}

impl Deref for Mapping {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        // SAFETY: `begin` is a mapping of `bytes` that lives as long as this, or no pointer of no bytes. A table
        // is written beside its place and renamed, so nobody writes to it. A file that is cut while it is mapped ends
        // the process by SIGBUS: the guide says so.
        unsafe { std::slice::from_raw_parts(self.begin.cast(), self.bytes) }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        if self.bytes > 0 {
            // SAFETY: the mapping is this one's own, and no slice of it outlives `self`.
            let _ = unsafe { munmap(self.begin, self.bytes) };
        }
    }
}
