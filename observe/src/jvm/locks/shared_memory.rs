//! Shared memory: a memfd of an agent in another process, mapped here to read its records.
//!
//! Its creator is not trusted. Only a memfd with seals against shrinking
//! and growing is mapped, and every access is atomic.
//!
//! One of the listed files with `unsafe`: for the mapping, and for its words.

use std::fs::{self, File};
use std::os::fd::AsFd;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, AtomicU64};

use rustix::fs::{SealFlags, fcntl_get_seals};
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};

use yunti_probe::target::Process;

/// A mapped memfd.
pub struct SharedMemory {
    begin: NonNull<u8>,
    bytes: usize,
}

impl SharedMemory {
    /// Maps the memfd of this name that a process has open; `None` if there is none, or it is not sealed.
    pub fn find(process: &Process, name: &str) -> Option<SharedMemory> {
        let wanted = format!("/memfd:{name}");
        let fds = fs::read_dir(format!("/proc/{}/fd", process.pid)).ok()?.flatten();
        let is_it = |path: &std::path::PathBuf| {
            fs::read_link(path).is_ok_and(|to| to.to_string_lossy().trim_end_matches(" (deleted)") == wanted)
        };
        let path = fds.map(|entry| entry.path()).find(is_it)?;
        SharedMemory::map(&File::options().read(true).write(true).open(path).ok()?)
    }

    fn map(file: &File) -> Option<SharedMemory> {
        let seals = fcntl_get_seals(file).ok()?;
        let bytes = usize::try_from(file.metadata().ok()?.len()).ok()?;
        if !seals.contains(SealFlags::SHRINK | SealFlags::GROW) || bytes == 0 {
            return None;
        }
        // SAFETY: a new mapping at an address of the kernel's choice; it is all there, and its seals keep it so.
        let begin = unsafe {
            mmap(std::ptr::null_mut(), bytes, ProtFlags::READ | ProtFlags::WRITE, MapFlags::SHARED, file.as_fd(), 0)
        };
        Some(SharedMemory { begin: NonNull::new(begin.ok()?.cast())?, bytes })
    }

    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Returns the 64-bit word at an offset that is a multiple of 8. Panics outside the mapping.
    pub fn word(&self, at: usize) -> &AtomicU64 {
        assert!(at.is_multiple_of(8) && at + 8 <= self.bytes, "within the mapping");
        // SAFETY: within the mapping, which lives as long as `self`, and aligned,
        // by the assertion; others change it by whole words.
        unsafe { AtomicU64::from_ptr(self.begin.as_ptr().add(at).cast()) }
    }

    /// Returns the 32-bit word at an offset that is a multiple of 4. Panics outside the mapping.
    pub fn half(&self, at: usize) -> &AtomicU32 {
        assert!(at.is_multiple_of(4) && at + 4 <= self.bytes, "within the mapping");
        // SAFETY: as for `word`.
        unsafe { AtomicU32::from_ptr(self.begin.as_ptr().add(at).cast()) }
    }
}

impl Drop for SharedMemory {
    fn drop(&mut self) {
        // SAFETY: it was mapped so, and no reference into it outlives `self`.
        let _ = unsafe { munmap(self.begin.as_ptr().cast(), self.bytes) };
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::Ordering::SeqCst;

    use rustix::fs::{MemfdFlags, fcntl_add_seals, memfd_create};

    use super::*;

    #[test]
    fn maps_only_sealed_memory() {
        let me = Process::of(std::process::id()).unwrap();
        let name = format!("yunti-test-{}", std::process::id());
        let file = File::from(memfd_create(name.as_str(), MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING).unwrap());
        file.set_len(4096).unwrap();
        assert!(SharedMemory::find(&me, &name).is_none() && SharedMemory::find(&me, "another").is_none());
        fcntl_add_seals(&file, SealFlags::SHRINK | SealFlags::GROW).unwrap();
        let (one, other) = (SharedMemory::find(&me, &name).unwrap(), SharedMemory::find(&me, &name).unwrap());
        one.word(8).store(7, SeqCst);
        assert_eq!((other.bytes(), other.word(8).load(SeqCst), other.half(8).load(SeqCst)), (4096, 7, 7));
    }
}
