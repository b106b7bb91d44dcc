//! Provided buffers of io_uring: the kernel takes the next free buffer for each piece that it receives.
//!
//! One of the listed files with `unsafe`: the kernel writes into the buffers, and reads the ring that lends them.
//!
//! ```text
//!   ring:    address, length, number | address, length, number | ..   lent up to the tail, which is in the first entry
//!   buffers: bytes of 0              | bytes of 1              | ..   lent -> (a completion names it) Piece -> lent
//! ```

use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU16, Ordering::Release};

use io_uring::types::BufRingEntry;

/// Bytes of a buffer; most responses fit.
pub const BUFFER_BYTES: usize = 4 << 10;
const PAGE_BYTES: usize = 4096;

/// A ring of buffers that are lent to the kernel.
pub struct BufferPool {
    ring: NonNull<BufRingEntry>,
    buffers: NonNull<u8>,
    /// A power of two.
    count: u16,
    tail: u16,
}

/// Received bytes in a buffer that is ours until it is given back.
#[derive(Debug)]
pub struct Piece {
    number: u16,
    bytes: usize,
}

fn allocate<T>(layout: Layout) -> NonNull<T> {
    // SAFETY: the layouts below have more than no bytes.
    let memory = unsafe { alloc_zeroed(layout) };
    NonNull::new(memory.cast()).unwrap_or_else(|| handle_alloc_error(layout))
}

impl BufferPool {
    fn layouts(count: u16) -> [Layout; 2] {
        let ring = Layout::array::<BufRingEntry>(count.into()).and_then(|layout| layout.align_to(PAGE_BYTES));
        let buffers = Layout::from_size_align(usize::from(count) * BUFFER_BYTES, PAGE_BYTES);
        [ring.expect("some pages"), buffers.expect("some megabytes")]
    }

    /// Allocates the buffers and lends all.
    ///
    /// @param count a power of two
    pub fn new(count: u16) -> BufferPool {
        assert!(count.is_power_of_two());
        let [ring, buffers] = BufferPool::layouts(count);
        let mut pool = BufferPool { ring: allocate(ring), buffers: allocate(buffers), count, tail: 0 };
        (0..count).for_each(|number| pool.lend(number));
        pool.publish();
        pool
    }

    /// Returns the ring's address, for its registration with the kernel.
    pub fn address(&self) -> u64 {
        self.ring.as_ptr() as u64
    }

    pub fn count(&self) -> u16 {
        self.count
    }

    fn buffer(&self, number: u16) -> *mut u8 {
        assert!(number < self.count);
        // SAFETY: within the allocation, as just asserted.
        unsafe { self.buffers.as_ptr().add(usize::from(number) * BUFFER_BYTES) }
    }

    fn lend(&mut self, number: u16) {
        let buffer = self.buffer(number) as u64;
        // SAFETY: the place is within the ring, and the kernel reads it only after the tail has passed it. The fields
        // written here do not include the tail, which is in the first entry.
        let entry = unsafe { &mut *self.ring.as_ptr().add(usize::from(self.tail & (self.count - 1))) };
        entry.set_addr(buffer);
        entry.set_len(BUFFER_BYTES as u32);
        entry.set_bid(number);
        self.tail = self.tail.wrapping_add(1);
    }

    /// Publishes the returned buffers to the kernel.
    pub fn publish(&mut self) {
        // SAFETY: the tail is within the ring's first entry and aligned; the kernel only reads it.
        let tail = unsafe { AtomicU16::from_ptr(BufRingEntry::tail(self.ring.as_ptr()).cast_mut()) };
        tail.store(self.tail, Release);
    }

    /// Returns the piece that a completion names.
    ///
    /// # Safety
    /// A completion has just reported this many bytes in this buffer: the kernel does not access it until it is lent
    /// again.
    pub unsafe fn take(&self, number: u16, bytes: usize) -> Piece {
        assert!(number < self.count && bytes <= BUFFER_BYTES);
        Piece { number, bytes }
    }

    /// Returns the bytes of a piece.
    pub fn bytes(&self, piece: &Piece) -> &[u8] {
        // SAFETY: the caller of `take` guaranteed that the kernel does not access the buffer. It is initialised, and
        // within the allocation.
        unsafe { std::slice::from_raw_parts(self.buffer(piece.number), piece.bytes) }
    }

    /// Lends a piece's buffer again.
    pub fn give_back(&mut self, piece: Piece) {
        self.lend(piece.number);
    }
}

impl Drop for BufferPool {
    fn drop(&mut self) {
        let [ring, buffers] = BufferPool::layouts(self.count);
        // SAFETY: allocated with these layouts. The owner keeps this until no request could write into the buffers.
        unsafe {
            dealloc(self.ring.as_ptr().cast(), ring);
            dealloc(self.buffers.as_ptr(), buffers);
        }
    }
}
