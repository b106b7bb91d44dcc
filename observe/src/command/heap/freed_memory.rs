//! Freed memory, which goes back to the system at once.
//!
//! A heap takes arrays of many megabytes that live in turns. glibc's allocator raises the size from which it maps
//! memory to 32 MB by itself, and keeps what is freed below: 60 MB for a dump of 30 million objects.
//!
//! One of the listed files with `unsafe`: a setting of the allocator has no safe name.

/// Bytes from which an allocation is a mapping of its own.
const MAPPED_BYTES: libc::c_int = 1 << 20;

/// Makes the allocator return large allocations when they are freed.
pub fn return_to_system() {
    #[cfg(target_env = "gnu")]
    // SAFETY: `mallopt` changes a setting of the allocator under its own lock, and no memory that is in use.
    unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, MAPPED_BYTES);
    }
}
