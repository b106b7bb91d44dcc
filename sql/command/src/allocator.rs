//! The program's allocator: the system's, set for batches of columns, and mappings of huge pages for large blocks.
//! One of the listed files with `unsafe`: it maps memory.
//!
//! A batch takes and frees blocks of some hundred KiB. By default glibc gives the memory behind the last block back to
//! the kernel at once, so that each batch pays for fresh pages: 24,000 page faults in Q3 of TPC-H, 12,000 without
//! (DESIGN: a fresh page costs more than the work on it). Tables of groups and of joins are blocks of many MiB: they
//! get huge pages, and grow by moving pages in place of bytes.

use std::alloc::{GlobalAlloc, Layout, System};

/// Bytes of a block that has a mapping of its own, at least.
const LARGE_BYTES: usize = 4 << 20;
const HUGE_PAGE: usize = 2 << 20;
/// Freed bytes that an arena of glibc keeps, at most.
const KEPT_BYTES_MAX: u64 = 32 << 20;
const KEPT_BYTES_MIN: u64 = 128 << 10;

/// The system's allocator for small blocks, the kernel for large ones.
pub struct Allocator;

/// Sets the bytes that stay with the process when they are freed: a small part of the budget for each arena.
pub fn set_for_budget(budget_bytes: u64, threads: usize) {
    let kept = budget_bytes / (16 * (threads as u64 + 1));
    let kept = kept.clamp(KEPT_BYTES_MIN, KEPT_BYTES_MAX) as libc::c_int;
    // SAFETY: mallopt sets numbers, and takes the allocator's lock.
    unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, kept);
        libc::mallopt(libc::M_TRIM_THRESHOLD, kept);
    }
}

fn is_large(bytes: usize, align: usize) -> bool {
    bytes >= LARGE_BYTES && align <= HUGE_PAGE
}

fn mapped_bytes(bytes: usize) -> usize {
    bytes.next_multiple_of(4096)
}

/// Maps zero bytes at a multiple of a huge page; null if the system has none.
///
/// # Safety
///
/// The result must be unmapped by `unmap` with the same size, or moved by `remap`.
unsafe fn map(bytes: usize) -> *mut u8 {
    let Some(reserved) = mapped_bytes(bytes).checked_add(HUGE_PAGE) else { return std::ptr::null_mut() };
    let (protection, flags) =
        (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE);
    // SAFETY: a fresh anonymous mapping touches nothing that exists.
    let base = unsafe { libc::mmap(std::ptr::null_mut(), reserved, protection, flags, -1, 0) };
    if base == libc::MAP_FAILED {
        return std::ptr::null_mut();
    }
    let base = base as *mut u8;
    let before = base.align_offset(HUGE_PAGE);
    let behind = reserved - before - mapped_bytes(bytes);
    // SAFETY: both ranges are page-aligned parts of the fresh mapping that nothing refers to. Advice changes no byte.
    unsafe {
        let block = base.add(before);
        if before > 0 {
            libc::munmap(base.cast(), before);
        }
        if behind > 0 {
            libc::munmap(block.add(mapped_bytes(bytes)).cast(), behind);
        }
        libc::madvise(block.cast(), mapped_bytes(bytes), libc::MADV_HUGEPAGE);
        block
    }
}

/// Unmaps a block.
///
/// # Safety
///
/// `block` is of `map` or `remap` with this size, and no longer used.
unsafe fn unmap(block: *mut u8, bytes: usize) {
    // SAFETY: by the condition above, the range is a whole mapping of ours.
    unsafe { libc::munmap(block.cast(), mapped_bytes(bytes)) };
}

/// Gives a block another size, and moves its pages; null, without a change, if the system has no memory.
///
/// # Safety
///
/// As for `unmap`, unless the result is null.
unsafe fn remap(block: *mut u8, from: usize, to: usize) -> *mut u8 {
    let (from, to) = (mapped_bytes(from), mapped_bytes(to));
    if to <= from {
        if to < from {
            // SAFETY: the end of a mapping of ours, which the caller gives up.
            unsafe { libc::munmap(block.add(to).cast(), from - to) };
        }
        return block;
    }
    // SAFETY: the new mapping is ours alone, and mremap replaces it by the pages of the block in one step.
    unsafe {
        let target = map(to);
        if target.is_null() {
            return target;
        }
        let flags = libc::MREMAP_MAYMOVE | libc::MREMAP_FIXED;
        if libc::mremap(block.cast(), from, to, flags, target) == libc::MAP_FAILED {
            unmap(target, to);
            return std::ptr::null_mut();
        }
        target
    }
}

// SAFETY: each block is of the system's allocator or a mapping of its own, by a rule on its size and alignment that
// alloc, dealloc and realloc share. Blocks have the size of the layout, and at least its alignment.
unsafe impl GlobalAlloc for Allocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller gives the block back by `dealloc` or `realloc` with this layout.
        unsafe { if is_large(layout.size(), layout.align()) { map(layout.size()) } else { System.alloc(layout) } }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as in `alloc`; a fresh mapping is zero.
        unsafe {
            if is_large(layout.size(), layout.align()) { map(layout.size()) } else { System.alloc_zeroed(layout) }
        }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: the block came from `alloc` with this layout, so that the rule names the same allocator.
        unsafe {
            if is_large(layout.size(), layout.align()) {
                unmap(block, layout.size());
            } else {
                System.dealloc(block, layout);
            }
        }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, new_bytes: usize) -> *mut u8 {
        let (from, to) = (is_large(layout.size(), layout.align()), is_large(new_bytes, layout.align()));
        // SAFETY: as in `dealloc`. The new layout is valid, since the caller guarantees it. Blocks do not overlap.
        unsafe {
            match (from, to) {
                (false, false) => System.realloc(block, layout, new_bytes),
                (true, true) => remap(block, layout.size(), new_bytes),
                _ => {
                    let new = Layout::from_size_align_unchecked(new_bytes, layout.align());
                    let moved = self.alloc(new);
                    if !moved.is_null() {
                        std::ptr::copy_nonoverlapping(block, moved, layout.size().min(new_bytes));
                        self.dealloc(block, layout);
                    }
                    moved
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout(bytes: usize) -> Layout {
        Layout::from_size_align(bytes, 64).unwrap()
    }

    /// Blocks keep their bytes through all sizes around the limit, and new bytes of zeroed blocks are zero.
    #[test]
    fn blocks_keep_their_bytes() {
        let sizes = [1, 4096, LARGE_BYTES - 1, LARGE_BYTES, LARGE_BYTES + 1, 3 * LARGE_BYTES, LARGE_BYTES, 100, 5000];
        // SAFETY: each block is used within its size and given back with its layout.
        unsafe {
            let mut block = Allocator.alloc(layout(sizes[0]));
            block.write(7);
            let mut last = sizes[0];
            for &size in &sizes[1..] {
                block = Allocator.realloc(block, layout(last), size);
                assert!(!block.is_null() && block as usize % 64 == 0);
                assert_eq!(block.read(), 7);
                if size > last {
                    assert!(last == 1 || block.add(last - 1).read() == 9, "the last byte of {last}");
                }
                block.add(size - 1).write(9);
                last = size;
            }
            Allocator.dealloc(block, layout(last));
            for size in sizes {
                let block = Allocator.alloc_zeroed(layout(size));
                assert!((0..size).all(|at| block.add(at).read() == 0));
                block.write_bytes(1, size);
                Allocator.dealloc(block, layout(size));
            }
        }
    }

    #[test]
    fn a_block_beyond_all_memory_is_null() {
        // SAFETY: nothing is allocated.
        unsafe {
            assert!(Allocator.alloc(layout(1 << 60)).is_null());
            let block = Allocator.alloc(layout(LARGE_BYTES));
            block.write(5);
            assert!(Allocator.realloc(block, layout(LARGE_BYTES), 1 << 60).is_null());
            assert_eq!(block.read(), 5);
            Allocator.dealloc(block, layout(LARGE_BYTES));
        }
    }
}
