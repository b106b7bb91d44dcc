//! File mapped for writing, to which single bytes are written.
//!
//! One of the listed files with `unsafe`: mapped memory is no Rust object, and disappears if the file is truncated.

use std::ffi::c_void;
use std::fs::File;
use std::ptr;

use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};

/// Mapped file.
pub struct MappedFile {
    at: *mut c_void,
    bytes: usize,
}

impl MappedFile {
    /// Maps the first `bytes` bytes of the file.
    pub fn new(file: &File, bytes: usize) -> std::io::Result<MappedFile> {
        // SAFETY: a new mapping at a place of the kernel's choice touches no memory of ours.
        let at =
            unsafe { mmap(ptr::null_mut(), bytes, ProtFlags::READ | ProtFlags::WRITE, MapFlags::SHARED, file, 0)? };
        Ok(MappedFile { at, bytes })
    }

    /// Writes one byte. Panics if `offset` is outside the mapping.
    pub fn write(&mut self, offset: usize, byte: u8) {
        assert!(offset < self.bytes);
        // SAFETY: within the mapping; the file is in a private folder, where no process truncates it. Volatile, so
        // that each write is made.
        unsafe { ptr::write_volatile(self.at.cast::<u8>().add(offset), byte) };
    }
}

impl Drop for MappedFile {
    fn drop(&mut self) {
        // SAFETY: the mapping is owned, and no reference into it exists.
        let _ = unsafe { munmap(self.at, self.bytes) };
    }
}
